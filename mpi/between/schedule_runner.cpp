// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/schedule_runner.hpp"

#include <sched.h>

#include <algorithm>

namespace hierbar::mpi {
namespace {

// MPI_Testall so often before the first yield. It makes progress and costs from 0.1 to 1 us. With
// more ranks than cpus the awaited leader may need this cpu.
constexpr int kTestsBeforeYield = 20;

constexpr unsigned char kMark = 1;

}  // namespace

void ScheduleRunner::prepare(const std::vector<network::Round>& rounds) {
  for (const network::Round& round : rounds) {
    const std::size_t num_receives = round.receive_from.size();
    if (requests_.size() < num_receives + round.send_to.size())
      requests_.resize(num_receives + round.send_to.size());
    if (marks_.size() < num_receives) marks_.resize(num_receives);
  }
}

int ScheduleRunner::run(const std::vector<network::Round>& rounds, const Pmpi& pmpi,
                        MPI_Comm comm) noexcept {
  int status = broken_;
  for (const network::Round& round : rounds) {
    const int of_round = run_round(round, status != MPI_SUCCESS, pmpi, comm);
    if (status == MPI_SUCCESS) status = of_round;
  }
  return status;
}

// 1. The receives are started first, so that the library need not keep messages for them.
// 2. The sends are started, with a mark if anything has failed.
// 3. Polls until all have completed. The polls are what makes the library progress. Sends are
//    completed as receives are: a library may keep a send that nobody completes.
//
// A start that fails is taken to have started nothing, and is made again, so that a passing error
// changes nothing. A poll that fails may have completed a receive with an error. It is not made
// again, because the next one would not tell.
int ScheduleRunner::run_round(const network::Round& round, bool has_failed, const Pmpi& pmpi,
                              MPI_Comm comm) noexcept {
  int status = broken_;
  std::size_t num_requests = 0;
  const auto start = [&](auto function) {
    int last = MPI_SUCCESS;
    if (ask([&] { return last = function(&requests_[num_requests]); })) {
      ++num_requests;
    } else {
      status = last;
    }
  };
  for (const std::uint32_t peer : round.receive_from) {
    if (status != MPI_SUCCESS) break;
    unsigned char* const mark = &marks_[num_requests];
    *mark = 0;
    start([&](MPI_Request* request) {
      return pmpi.Irecv(mark, 1, pmpi.byte, static_cast<int>(peer), tag_, comm, request);
    });
  }
  const std::size_t num_receives = num_requests;
  for (const std::uint32_t peer : round.send_to) {
    const int num_bytes = has_failed || status != MPI_SUCCESS ? 1 : 0;
    start([&](MPI_Request* request) {
      return pmpi.Isend(&kMark, num_bytes, pmpi.byte, static_cast<int>(peer), tag_, comm, request);
    });
  }
  int done = num_requests == 0;
  for (int polls = 0; status == MPI_SUCCESS && done == 0; ++polls) {
    status =
        pmpi.Testall(static_cast<int>(num_requests), requests_.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0 && polls >= kTestsBeforeYield) sched_yield();
  }
  if (status != MPI_SUCCESS) {
    abandon(num_receives, num_requests, pmpi);
    return broken_ = status;
  }
  const auto end = marks_.begin() + static_cast<std::ptrdiff_t>(num_receives);
  return std::find(marks_.begin(), end, kMark) == end ? MPI_SUCCESS : MPI_ERR_OTHER;
}

// Gives the round's requests back without waiting for them. Messages that were sent still arrive.
void ScheduleRunner::abandon(std::size_t num_receives, std::size_t num_requests,
                             const Pmpi& pmpi) noexcept {
  for (std::size_t i = 0; i < num_requests; ++i) {
    if (requests_[i] == pmpi.request_null) continue;
    if (i < num_receives) pmpi.Cancel(&requests_[i]);
    pmpi.Request_free(&requests_[i]);
  }
}

}  // namespace hierbar::mpi

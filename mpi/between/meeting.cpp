// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/meeting.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "mpi/settings/message.hpp"

namespace hierbar::mpi {
namespace {

// The messages from one leader to another are taken in the order in which they were sent, and every
// schedule uses up its messages, so one tag serves for all meetings.
constexpr int kTag = 0;

// Polls before the first yield. A poll makes progress and costs from 0.1 to 1 us. With more ranks
// than cpus the awaited leader may need this cpu.
constexpr int kPollsBeforeYield = 20;

std::string us_text(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", us);
  return text;
}

}  // namespace

Meeting::Meeting(const std::vector<network::Kind>& kinds, bool is_trial, std::uint32_t rank, std::uint32_t size, bool reports)
    : way_(kinds.empty() || is_trial ? 0 : 1), size_(size), reports_(reports) {
  std::size_t most = 0;
  for (const network::Kind kind : kinds) {
    schedules_.push_back({kind, network::rounds(kind, rank, size)});
    for (const network::Round& round : schedules_.back().rounds) {
      most = std::max(most, round.send_to.size() + round.receive_from.size());
    }
  }
  requests_.resize(most);
  if (is_trial && !kinds.empty()) trial_.emplace(kinds.size() + 1);
}

int Meeting::meet(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  if (!trial_) return meet_by(way_, pmpi, comm);
  if (trial_->has_ended()) return end_trial(pmpi, comm);
  const auto start = std::chrono::steady_clock::now();
  const int status = meet_by(trial_->way(), pmpi, comm);
  trial_->note(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  return status;
}

int Meeting::meet_by(std::size_t way, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  if (way == 0) return pmpi.Barrier(comm);
  int status = MPI_SUCCESS;
  // After an error the rounds go on, so that this leader's messages still reach the others.
  for (const network::Round& round : schedules_[way - 1].rounds) {
    const int of_round = run(round, pmpi, comm);
    if (status == MPI_SUCCESS) status = of_round;
  }
  return status;
}

// 1. The receives are started first, so that the library need not keep messages for them.
// 2. The sends are started. They are completed like the receives: a library may keep a send that
//    nobody completes.
// 3. Polls until all have completed. They are what makes the library progress.
int Meeting::run(const network::Round& round, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  int status = MPI_SUCCESS;
  int num_requests = 0;
  static unsigned char nothing;
  // A call that fails is made again, because a message that one leader leaves out parts it from the
  // others for good.
  const auto start = [&](const std::vector<std::uint32_t>& peers, auto function) {
    for (const std::uint32_t peer : peers) {
      MPI_Request* const request = &requests_[static_cast<std::size_t>(num_requests)];
      int last = MPI_SUCCESS;
      if (ask([&] { return last = function(static_cast<int>(peer), request); })) {
        ++num_requests;
      } else {
        status = last;
      }
    }
  };
  start(round.receive_from,
        [&](int peer, MPI_Request* request) { return pmpi.Irecv(&nothing, 0, pmpi.byte, peer, kTag, comm, request); });
  start(round.send_to,
        [&](int peer, MPI_Request* request) { return pmpi.Isend(&nothing, 0, pmpi.byte, peer, kTag, comm, request); });
  int done = num_requests == 0;
  for (int polls = 0; done == 0; ++polls) {
    if (const int polled = pmpi.Testall(num_requests, requests_.data(), &done, MPI_STATUSES_IGNORE); polled != MPI_SUCCESS)
      return polled;
    if (done == 0 && polls >= kPollsBeforeYield) sched_yield();
  }
  return status;
}

// The reduction is a meeting of its own: nobody has its result before all have come.
int Meeting::end_trial(const Pmpi& pmpi, MPI_Comm comm) noexcept {
  Trial::Times least{};
  const int status =
      pmpi.Allreduce(trial_->times().data(), least.data(), static_cast<int>(least.size()), pmpi.long_long, pmpi.min, comm);
  if (status != MPI_SUCCESS) return status;  // the trial has not been judged; the next meeting tries again
  const Trial::Verdict verdict = trial_->judge(least);
  way_ = verdict.way;
  if (reports_) report(verdict);
  trial_.reset();
  return MPI_SUCCESS;
}

void Meeting::report(const Trial::Verdict& verdict) const {
  std::string times = "library " + us_text(verdict.medians_us[0]);
  for (std::size_t i = 0; i < schedules_.size(); ++i) {
    times += ", " + network::name_of(schedules_[i].kind) + " " + us_text(verdict.medians_us[i + 1]);
  }
  const std::string chosen = verdict.way == 0 ? "library" : network::name_of(schedules_[verdict.way - 1].kind);
  say("meeting of " + std::to_string(size_) + " nodes: " + chosen + "; trial: " + times +
      "; another way must be 5 % better than the library");
}

}  // namespace hierbar::mpi

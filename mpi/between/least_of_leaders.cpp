// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/least_of_leaders.hpp"

#include <sched.h>

#include <algorithm>

namespace hierbar::mpi {
namespace {

constexpr int kPollsBeforeYield = 100;

// Gives the requests back without waiting for them, as ScheduleRunner does.
void abandon(const Pmpi& pmpi, MPI_Request (&requests)[2]) noexcept {
  if (requests[0] != pmpi.request_null) pmpi.Cancel(&requests[0]);
  for (MPI_Request& request : requests) {
    if (request != pmpi.request_null) pmpi.Request_free(&request);
  }
}

}  // namespace

int LeastOfLeaders::run(const Pmpi& pmpi, LeaderShare* leaders, MPI_Comm comm,
                        std::size_t num_words) noexcept {
  if (leaders != nullptr && leaders->by_messages) {
    return run_by_messages(pmpi, leaders->by_messages->plan(), leaders->leaders->comm, num_words);
  }
  const int status =
      pmpi.Allreduce(words_.data(), came_.data(), static_cast<int>(num_words), pmpi.long_long,
                     pmpi.min, leaders != nullptr ? leaders->leaders->comm : comm);
  if (status == MPI_SUCCESS) words_.swap(came_);
  return status;
}

// Dissemination: in round k each leader sends all that it knows to the one 2^k further on. The
// least of a word does not change if it comes twice, so any number of leaders will do. One word
// more says whether a message could not be started; the leaders that it reaches return an error.
int LeastOfLeaders::run_by_messages(const Pmpi& pmpi, const MeetingPlan& plan, MPI_Comm comm,
                                    std::size_t num_words) noexcept {
  words_[num_words] = broken_ == MPI_SUCCESS ? 1 : 0;
  for (std::uint32_t distance = 1; distance < plan.size; distance *= 2) {
    if (!exchange(pmpi, plan, comm, num_words + 1, distance)) words_[num_words] = 0;
  }
  if (broken_ != MPI_SUCCESS) return broken_;
  return words_[num_words] == 1 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

bool LeastOfLeaders::exchange(const Pmpi& pmpi, const MeetingPlan& plan, MPI_Comm comm,
                              std::size_t num_words, std::uint32_t distance) noexcept {
  const auto count = static_cast<int>(num_words);
  const auto to = static_cast<int>((plan.rank + distance) % plan.size);
  const auto from = static_cast<int>((plan.rank + plan.size - distance) % plan.size);
  MPI_Request requests[2] = {pmpi.request_null, pmpi.request_null};
  const bool receives =
      broken_ == MPI_SUCCESS && ask([&] {
        return pmpi.Irecv(came_.data(), count, pmpi.long_long, from, plan.tag, comm, &requests[0]);
      });
  const bool sends = ask([&] {
    return pmpi.Isend(words_.data(), count, pmpi.long_long, to, plan.tag, comm, &requests[1]);
  });
  int done = 0;
  for (int polls = 0; done == 0; ++polls) {
    const int status = pmpi.Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    if (status != MPI_SUCCESS) {
      abandon(pmpi, requests);
      broken_ = status;
      return false;
    }
    if (done == 0 && polls >= kPollsBeforeYield) sched_yield();
  }
  if (receives) {
    for (std::size_t i = 0; i < num_words; ++i) words_[i] = std::min(words_[i], came_[i]);
  }
  return receives && sends;
}

}  // namespace hierbar::mpi

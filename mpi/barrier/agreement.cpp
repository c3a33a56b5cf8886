// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/agreement.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {

SetUpWatch::SetUpWatch(const Pmpi& pmpi, MPI_Comm comm, int rank, int num_ranks,
                       const Subject& subject, long timeout_ns) {
  if (timeout_ns == 0 || num_ranks == 1 || (rank != 0 && rank != num_ranks - 1)) return;
  std::string who = "rank " + std::to_string(rank);
  std::string on_what =
      subject.what + " on " + name_of(pmpi, comm) + " of " + std::to_string(num_ranks) +
      " ranks: not all of them have arrived; a process " + subject.stranger + " never does";
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits it
  try {
    thread_ = std::thread([this, timeout_ns, by = std::move(who), on = std::move(on_what)] {
      watch(timeout_ns, by, on);
    });
  } catch (const std::system_error&) {  // no more threads: nothing is watched
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SetUpWatch::~SetUpWatch() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void SetUpWatch::watch(long timeout_ns, const std::string& who, const std::string& on_what) {
  std::unique_lock lock(mutex_);
  for (long waited_ns = timeout_ns;; waited_ns += timeout_ns) {
    if (ended_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [this] { return has_ended_; }))
      return;
    print_line(who + " has waited " + std::to_string(waited_ns / 1'000'000'000) + " s for " +
               on_what);
  }
}

Agreement::Agreement(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm,
                     const char* consequence, const char* what)
    : process_(process), pmpi_(pmpi), comm_(comm), consequence_(consequence) {
  int num_ranks = 0;
  if (!ask([&] { return pmpi_.Comm_rank(comm_, &rank_); }) ||
      !ask([&] { return pmpi_.Comm_size(comm_, &num_ranks); }))
    return;
  num_ranks_ = num_ranks;
  if (what == nullptr) return;
  constexpr const char* kStranger =
      "without this library (LD_PRELOAD), or with another HIERBAR_MPI or HIERBAR_MPI_SET_UP_AT,";
  watch_.emplace(pmpi, comm, rank_, num_ranks, SetUpWatch::Subject{what, kStranger},
                 process.settings.timeout_ns);
}

void Agreement::fail(Route route, std::string problem) {
  if (has_failed()) return;
  failure_ = static_cast<long long>(route) << 32 | rank_;
  problem_ = std::move(problem);
}

Route Agreement::known_failure(const NodeSegment* segment) { return conclude(known_, segment); }

bool Agreement::reduce(long long own, long long& first) {
  return pmpi_.Allreduce(&own, &first, 1, pmpi_.long_long, pmpi_.min, comm_) == MPI_SUCCESS;
}

Route Agreement::agree(const NodeSegment* segment) {
  long long known = kFine, first = kFine;
  if (!reduce(failure_, known)) {
    fail(Route::kSetUpFailed, kNoCommunication);
    known = failure_;
  }
  return conclude(reduce(known, first) ? first : known, segment);
}

Route Agreement::conclude(long long first, const NodeSegment* segment) {
  if (first == kFine) return Route::kEngine;
  const auto route = static_cast<Route>(first >> 32);
  // Every rank remembers that this was reported, so that none of them reports it again for another
  // communicator. That a segment is full is also written into the segment, because its members may
  // never be together in one communicator again.
  const auto is_news = [&] {
    return route != Route::kSegmentFull || segment == nullptr || segment->claim_first_to_run_out();
  };
  if (process_.claim_first(route) && failure_ == first && is_news() && !problem_.empty()) {
    print_line(problem_ + "; " + consequence_);
  }
  return route;
}

}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/setup/set_up_watch.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "mpi/settings/message.hpp"

namespace hierbar::mpi {

SetUpWatch::SetUpWatch(const Pmpi& pmpi, MPI_Comm comm, int rank, int num_ranks, const Subject& subject, long timeout_ns) {
  if (timeout_ns == 0 || num_ranks == 1 || (rank != 0 && rank != num_ranks - 1)) return;
  std::string who = "rank " + std::to_string(rank);
  std::string on_what = subject.what + " on " + name_of(pmpi, comm) + " of " + std::to_string(num_ranks) +
                        " ranks: not all of them have come; a process " + subject.stranger + " never does";
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits it
  try {
    thread_ = std::thread([this, timeout_ns, by = std::move(who), on = std::move(on_what)] { watch(timeout_ns, by, on); });
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
    if (ended_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [this] { return has_ended_; })) return;
    print_line(who + " has waited " + std::to_string(waited_ns / 1'000'000'000) + " s for " + on_what);
  }
}

}  // namespace hierbar::mpi

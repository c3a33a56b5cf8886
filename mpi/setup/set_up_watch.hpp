// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

// While it exists, says after every `timeout_ns` on stderr that this process waits inside the MPI
// library, in a set-up or in a barrier before it, where no barrier's watchdog can look. It does so in a
// thread of its own, which calls no function of MPI and gets no signal. With 0 there is no thread.
//
// Only the lowest and the highest rank of `comm` watch: one of them waits where the other is missing.
class SetUpWatch {
 public:
  // What is waited for, and which process never comes to it.
  struct Subject {
    std::string what;  // for instance "the set-up in barrier 8"
    const char* stranger;
  };
  SetUpWatch(const Pmpi& pmpi, MPI_Comm comm, int rank, int num_ranks, const Subject& subject, long timeout_ns);
  ~SetUpWatch();
  SetUpWatch(const SetUpWatch&) = delete;
  SetUpWatch& operator=(const SetUpWatch&) = delete;

 private:
  void watch(long timeout_ns, const std::string& who, const std::string& on_what);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;  // with the mutex
  std::thread thread_;
};

}  // namespace hierbar::mpi

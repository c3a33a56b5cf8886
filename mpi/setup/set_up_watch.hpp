// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace hierbar::mpi {

// While it exists, says after every `timeout_ns` on stderr that this process waits in a set-up, inside
// the MPI library, where no barrier's watchdog can look. It does so in a thread of its own, which calls
// no function of MPI and gets no signal. With 0 there is no thread.
class SetUpWatch {
 public:
  // For instance "rank 0" and "the set-up of the first barrier on MPI_COMM_WORLD of 2 ranks".
  SetUpWatch(long timeout_ns, std::string who, std::string what);
  ~SetUpWatch();
  SetUpWatch(const SetUpWatch&) = delete;
  SetUpWatch& operator=(const SetUpWatch&) = delete;

 private:
  void watch(long timeout_ns, const std::string& who, const std::string& what);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;  // with the mutex
  std::thread thread_;
};

}  // namespace hierbar::mpi

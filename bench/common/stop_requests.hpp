// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <csignal>

namespace hierbar::bench {

// What asks a benchmark to stop early: a signal, or the end of its time. It then drops the block
// that it is in, ends the program that this block has started, and reports all other blocks.
//
// While an object lives, SIGINT, SIGTERM and SIGHUP are taken, unless they were ignored before as
// in a program under nohup. A second signal of the same kind ends the process. One object at a
// time.
class StopRequests {
 public:
  // `after_s` seconds from now on the time is over; 0: never.
  explicit StopRequests(double after_s);
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

 private:
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
  std::array<struct sigaction, kSignals.size()> before_{};
};

// The signal that asked for it, SIGALRM if the time is over; 0 if nothing did.
[[nodiscard]] int stop_request();

}  // namespace hierbar::bench

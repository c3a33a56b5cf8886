// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/stop_requests.hpp"

#include <sys/time.h>

#include <cmath>

namespace hierbar::bench {
namespace {

// Written by the handler, read by this process's only thread that measures.
volatile std::sig_atomic_t requested = 0;

void remember(int signal) { requested = signal; }

void set_timer(double after_s) {
  itimerval timer{};
  double whole = 0;
  timer.it_value.tv_usec = static_cast<suseconds_t>(std::modf(after_s, &whole) * 1e6);
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

StopRequests::StopRequests(double after_s) {
  requested = 0;
  struct sigaction action{};
  action.sa_handler = remember;
  action.sa_flags = SA_RESETHAND;  // so that a second one ends the process
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &action, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN && kSignals[i] != SIGALRM)
      sigaction(kSignals[i], &before_[i], nullptr);
  }
  if (after_s > 0) set_timer(after_s);
}

StopRequests::~StopRequests() {
  set_timer(0);
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  requested = 0;
}

int stop_request() { return requested; }

}  // namespace hierbar::bench

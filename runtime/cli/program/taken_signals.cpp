// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/taken_signals.hpp"

namespace hierbar {

TakenSignals::TakenSignals(std::initializer_list<int> more) {
  sigemptyset(&taken_);
  for (const int signal : {SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&taken_, signal);
  for (const int signal : more) sigaddset(&taken_, signal);
  sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
  // A parent that ignores SIGCHLD leaves that to this process, and then no status is kept.
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_action_before_);
}

void TakenSignals::give_back() const {
  sigaction(SIGCHLD, &child_action_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

bool asks_to_end(int signal) {
  return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
}

}  // namespace hierbar

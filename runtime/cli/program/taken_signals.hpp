// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <csignal>
#include <initializer_list>

namespace hierbar {

// While it lives, SIGCHLD and the signals that somebody sends to a command for the programs that it
// has started are blocked: who made it takes them from set() by sigwaitinfo() or a signalfd. So
// none is lost before a child exists, and no handler runs in between. The process must have one
// thread.
class TakenSignals {
 public:
  // `more`: other signals to be taken.
  explicit TakenSignals(std::initializer_list<int> more = {});
  ~TakenSignals() { give_back(); }
  TakenSignals(const TakenSignals&) = delete;
  TakenSignals& operator=(const TakenSignals&) = delete;

  const sigset_t& set() const { return taken_; }

  // As it was before. For a child that becomes another program.
  void give_back() const;

 private:
  sigset_t taken_{};
  sigset_t mask_before_{};
  struct sigaction child_action_before_{};
};

// Whether the signal asks a program to end, and is no message between programs.
bool asks_to_end(int signal);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "ledger.hpp"
#include "program.hpp"

// OpenMP's constructs cannot be made while a program runs. So there is a function for each kind of
// node, and a random tree of nodes calls them. team_constructs.hpp has those of the threads of a
// team, task_constructs.hpp those of tasks.

namespace fuzzer {

// Where a thread is in the program: one for each implicit task and for each explicit one.
struct Context {
  Ledger& ledger;
  int phase;           // barriers of the team that came before
  const Group* group;  // the innermost taskgroup
  bool may_be_cancelled;
  Variables* variables = nullptr;  // what its tasks depend on
  std::vector<const Record*> children = {};
  std::vector<const Node*> open_workshares = {};  // whose end no barrier has shown yet
};

void run_node(Context& context, const Node& node);
void run(Context& context, const std::vector<Node>& nodes);
void run_region(const Node& node, bool may_be_cancelled);
void run_cancelled_region(const Node& node);

// ---- what stands in any context ----

inline void delay(int duration_us) {
  using Clock = std::chrono::steady_clock;
  if (duration_us > 500) return std::this_thread::sleep_for(std::chrono::microseconds(duration_us));
  for (const auto end = Clock::now() + std::chrono::microseconds(duration_us); Clock::now() < end;) continue;
}

inline void run_critical(const Node& node) {
  static int inside = 0;  // guarded by the section
#pragma omp critical(fuzzer)
  {
    require(++inside == 1, node, "two threads are in a critical section");
    --inside;
  }
}

}  // namespace fuzzer

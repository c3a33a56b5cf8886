// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ledger.hpp"
#include "loop.hpp"

// Each compiler's constructs are in a namespace of their own. Otherwise a program that has both
// would run one of two functions of the same name for both.
#ifdef __clang__
#define LOOP_FUZZER_COMPILER by_clang
#else
#define LOOP_FUZZER_COMPILER by_gcc
#endif

namespace loop_fuzzer {

// What one compiler makes of all constructs.
struct Constructs {
  const char* compiler;
  // Runs body(argument) in each thread of a new team.
  void (*open_region)(int num_threads, void (*body)(void*), void* argument);
  // Runs the loop. All threads of a team call it, but for kParallelFor.
  void (*run)(const Loop& loop, Ledger& ledger);
};

namespace by_clang {
extern const Constructs constructs;
}
namespace by_gcc {
__attribute__((visibility("default"))) extern const Constructs constructs;
}

namespace LOOP_FUZZER_COMPILER {
// What kReduction adds to. A reduction's variable must be one that the team shares; one team runs
// at a time.
extern long reduction_sum;

void run_worksharing(const Loop& loop, Ledger& ledger);
void run_ordered(const Loop& loop, Ledger& ledger);
void run_special(const Loop& loop, Ledger& ledger);
void run_taskloop(const Loop& loop, Ledger& ledger);
}  // namespace LOOP_FUZZER_COMPILER

}  // namespace loop_fuzzer

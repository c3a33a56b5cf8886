// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include "loop.hpp"

namespace loop_fuzzer {

// Whether GCC decides who runs which iteration, without the runtime.
inline bool is_shared_out_by_gcc(const Loop& loop) {
  if (is_taskloop(loop.construct) || loop.construct == Construct::kOrdered) return false;
  return loop.schedule == Schedule::kNone || loop.schedule == Schedule::kStatic || loop.schedule == Schedule::kStaticChunk ||
         loop.schedule == Schedule::kAuto;
}

// Loops that GCC 12 compiles wrong: they fail on GCC's own library as well, and no library can tell
// them from others.
// - Unsigned, 32 bits, down: it passes the step -1 as 4294967295, in 64 bits. Between these bounds
//   there is no such iteration. Two collapsed loops are right: the library gets their number of
//   iterations.
// - Dependences between iterations of an unsigned loop, and of a pointer loop that goes down: it
//   waits for an iteration that does not come, or passes a number that no iteration has.
inline bool is_compiled_wrong_by_gcc(const Loop& loop) {
  const bool is_down = !goes_up(loop.form);
  if (loop.construct == Construct::kDoacross)
    return loop.type == Type::kUint32 || loop.type == Type::kUint64 || (loop.type == Type::kPointer && is_down);
  return loop.type == Type::kUint32 && is_down && loop.construct != Construct::kCollapse && !is_shared_out_by_gcc(loop);
}

// Loops that Clang 19 compiles wrong.
// - A reduction over a global variable, in a function template: the loop adds to the variable
//   itself, not to the thread's copy.
// - In taskloops it drops the modifier `strict`.
// - For a taskloop without iterations it makes the tasks of 2^32 or 2^64 iterations, and only each
//   task looks whether it has one. With a grain size these tasks do not come to an end.
inline bool is_compiled_wrong_by_clang(const Loop& loop) {
  if (loop.construct == Construct::kReduction) return true;
  if (!is_taskloop(loop.construct)) return false;
  return loop.split == Split::kGrainsizeStrict || loop.split == Split::kNumTasksStrict ||
         (loop.split == Split::kGrainsize && loop.outer.count == 0);
}

inline bool is_compiled_wrong(const Loop& loop, std::string_view compiler) {
  return compiler == "by_gcc" ? is_compiled_wrong_by_gcc(loop) : is_compiled_wrong_by_clang(loop);
}

}  // namespace loop_fuzzer

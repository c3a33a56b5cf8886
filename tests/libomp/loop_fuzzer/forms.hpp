// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

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

// A loop that a directive belongs to is written out: neither its comparison nor its schedule's kind
// can be a parameter. These macros write it in each way, and choose one by the Loop `loop`, when
// the program runs.

#define LOOP_FUZZER_PRAGMA(...) _Pragma(#__VA_ARGS__)

// The variables of a loop over `range`: a loop's bounds must be plain variables to be shared by a
// team.
#define LOOP_FUZZER_BOUNDS(range)                                     \
  using Step = typename Values<T>::Step;                              \
  const T first = Values<T>::make((range).first);                     \
  const T end = Values<T>::make((range).end);                         \
  [[maybe_unused]] const Step step = static_cast<Step>((range).step); \
  [[maybe_unused]] const Step minus_step = static_cast<Step>(0 - (range).step)

// One loop `directive for (...) BODY(i)` in each form, over the variables of LOOP_FUZZER_BOUNDS.
#define LOOP_FUZZER_FORMS(BODY, ...)                                                             \
  switch (loop.form) {                                                                           \
    case Form::kLess:                                                                            \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) for (T i = first; i < end; i += step) { BODY(i); }         \
      break;                                                                                     \
    case Form::kLessEqual:                                                                       \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) for (T i = first; i <= end; i += step) { BODY(i); }        \
      break;                                                                                     \
    case Form::kUpTo:                                                                            \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) for (T i = first; i != end; ++i) { BODY(i); }              \
      break;                                                                                     \
    case Form::kGreater:                                                                         \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) for (T i = first; i > end; i -= step) { BODY(i); }         \
      break;                                                                                     \
    case Form::kGreaterEqual:                                                                    \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) for (T i = first; i >= end; i -= step) { BODY(i); }        \
      break;                                                                                     \
    case Form::kDownTo:                                                                          \
      LOOP_FUZZER_PRAGMA(__VA_ARGS__) for (T i = first; i != end; --i) { BODY(i); }              \
      break;                                                                                     \
    case Form::kGreaterPlus:                                                                     \
      if constexpr (!std::is_unsigned_v<T>) {                                                    \
        LOOP_FUZZER_PRAGMA(__VA_ARGS__) for (T i = first; i > end; i += minus_step) { BODY(i); } \
      }                                                                                          \
      break;                                                                                     \
  }

// The same with each schedule, FORMS being LOOP_FUZZER_FORMS or its like; with an ordered clause,
// OpenMP forbids the modifier nonmonotonic.
#define LOOP_FUZZER_MONOTONIC_SCHEDULES(FORMS, BODY, ...)                \
  case Schedule::kNone:                                                  \
    FORMS(BODY, __VA_ARGS__) break;                                      \
  case Schedule::kStatic:                                                \
    FORMS(BODY, __VA_ARGS__ schedule(static)) break;                     \
  case Schedule::kStaticChunk:                                           \
    FORMS(BODY, __VA_ARGS__ schedule(static, chunk)) break;              \
  case Schedule::kDynamic:                                               \
    FORMS(BODY, __VA_ARGS__ schedule(dynamic)) break;                    \
  case Schedule::kDynamicChunk:                                          \
    FORMS(BODY, __VA_ARGS__ schedule(dynamic, chunk)) break;             \
  case Schedule::kMonotonicDynamic:                                      \
    FORMS(BODY, __VA_ARGS__ schedule(monotonic : dynamic, chunk)) break; \
  case Schedule::kGuided:                                                \
    FORMS(BODY, __VA_ARGS__ schedule(guided)) break;                     \
  case Schedule::kGuidedChunk:                                           \
    FORMS(BODY, __VA_ARGS__ schedule(guided, chunk)) break;              \
  case Schedule::kMonotonicGuided:                                       \
    FORMS(BODY, __VA_ARGS__ schedule(monotonic : guided, chunk)) break;  \
  case Schedule::kAuto:                                                  \
    FORMS(BODY, __VA_ARGS__ schedule(auto)) break;                       \
  case Schedule::kRuntime:                                               \
    FORMS(BODY, __VA_ARGS__ schedule(runtime)) break;                    \
  case Schedule::kMonotonicRuntime:                                      \
    FORMS(BODY, __VA_ARGS__ schedule(monotonic : runtime)) break;
#define LOOP_FUZZER_NONMONOTONIC_SCHEDULES(FORMS, BODY, ...)                \
  case Schedule::kNonmonotonicDynamic:                                      \
    FORMS(BODY, __VA_ARGS__ schedule(nonmonotonic : dynamic, chunk)) break; \
  case Schedule::kNonmonotonicGuided:                                       \
    FORMS(BODY, __VA_ARGS__ schedule(nonmonotonic : guided, chunk)) break;  \
  case Schedule::kNonmonotonicRuntime:                                      \
    FORMS(BODY, __VA_ARGS__ schedule(nonmonotonic : runtime)) break;

// The kinds for which compilers call different functions, for constructs with fewer of them.
#define LOOP_FUZZER_FEW_SCHEDULES(FORMS, BODY, ...)          \
  case Schedule::kNone:                                      \
    FORMS(BODY, __VA_ARGS__) break;                          \
  case Schedule::kStaticChunk:                               \
    FORMS(BODY, __VA_ARGS__ schedule(static, chunk)) break;  \
  case Schedule::kDynamicChunk:                              \
    FORMS(BODY, __VA_ARGS__ schedule(dynamic, chunk)) break; \
  case Schedule::kGuidedChunk:                               \
    FORMS(BODY, __VA_ARGS__ schedule(guided, chunk)) break;  \
  case Schedule::kRuntime:                                   \
    FORMS(BODY, __VA_ARGS__ schedule(runtime)) break;

namespace loop_fuzzer::LOOP_FUZZER_COMPILER {

// Calls run.template operator()<T>() with the loop's type.
template <class Run>
void with_type(Type type, const Run& run) {
  switch (type) {
    case Type::kInt32:
      return run.template operator()<std::int32_t>();
    case Type::kUint32:
      return run.template operator()<std::uint32_t>();
    case Type::kInt64:
      return run.template operator()<std::int64_t>();
    case Type::kUint64:
      return run.template operator()<std::uint64_t>();
    case Type::kPointer:
      return run.template operator()<Element*>();
    case Type::kIterator:
      return run.template operator()<Iterator>();
  }
}

// Out of line, so that hundreds of loops stay small.
template <class T>
__attribute__((noinline)) std::uint64_t iteration_of(const Loop& loop, const T& value) {
  return find_iteration(loop.outer, loop.form, value);
}

}  // namespace loop_fuzzer::LOOP_FUZZER_COMPILER

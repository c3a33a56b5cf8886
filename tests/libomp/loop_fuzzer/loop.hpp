// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>

#include <cstdint>
#include <vector>

namespace loop_fuzzer {

enum class Construct {
  kFor,
  kForNowait,
  kParallelFor,  // opens a region of its own
  kOrdered,
  kDoacross,
  kCollapse,   // two loops
  kReduction,  // with the modifier `task`
  kCancelFor,
  kTaskloop,
  kTaskloopNogroup,
  kTaskloopCopy,  // its tasks have a class object each
  kCancelTaskloop,
};
inline constexpr const char* kConstructNames[] = {"for",      "nowait",           "parallel-for",  "ordered",
                                                  "doacross", "collapse",         "reduction",     "cancel-for",
                                                  "taskloop", "taskloop-nogroup", "taskloop-copy", "cancel-taskloop"};
inline constexpr int kNumConstructs = 12;

constexpr bool is_taskloop(Construct construct) { return construct >= Construct::kTaskloop; }
constexpr bool is_cancelled(Construct construct) {
  return construct == Construct::kCancelFor || construct == Construct::kCancelTaskloop;
}
// All threads wait at its end for all iterations.
constexpr bool ends_with_barrier(Construct construct) {
  return construct != Construct::kForNowait && construct != Construct::kParallelFor;
}

enum class Type { kInt32, kUint32, kInt64, kUint64, kPointer, kIterator };
inline constexpr const char* kTypeNames[] = {"int32", "uint32", "int64", "uint64", "pointer", "iterator"};
inline constexpr int kNumTypes = 6;

// How the loop is written.
enum class Form {
  kLess,          // i < end; i += step
  kLessEqual,     // i <= end; i += step
  kUpTo,          // i != end; ++i
  kGreater,       // i > end; i -= step
  kGreaterEqual,  // i >= end; i -= step
  kDownTo,        // i != end; --i
  kGreaterPlus,   // i > end; i += a negative step
};
inline constexpr const char* kFormNames[] = {"i < end; i += step",      "i <= end; i += step", "i != end; ++i",
                                             "i > end; i -= step",      "i >= end; i -= step", "i != end; --i",
                                             "i > end; i += minus_step"};
inline constexpr int kNumForms = 7;

constexpr bool goes_up(Form form) { return form <= Form::kUpTo; }
constexpr bool has_step_one(Form form) { return form == Form::kUpTo || form == Form::kDownTo; }
constexpr bool is_inclusive(Form form) { return form == Form::kLessEqual || form == Form::kGreaterEqual; }

enum class Schedule {
  kNone,
  kStatic,
  kStaticChunk,
  kDynamic,
  kDynamicChunk,
  kMonotonicDynamic,
  kNonmonotonicDynamic,
  kGuided,
  kGuidedChunk,
  kMonotonicGuided,
  kNonmonotonicGuided,
  kAuto,
  kRuntime,
  kMonotonicRuntime,
  kNonmonotonicRuntime,
};
inline constexpr const char* kScheduleNames[] = {"default",
                                                 "static",
                                                 "static-chunk",
                                                 "dynamic",
                                                 "dynamic-chunk",
                                                 "monotonic-dynamic",
                                                 "nonmonotonic-dynamic",
                                                 "guided",
                                                 "guided-chunk",
                                                 "monotonic-guided",
                                                 "nonmonotonic-guided",
                                                 "auto",
                                                 "runtime",
                                                 "monotonic-runtime",
                                                 "nonmonotonic-runtime"};
inline constexpr int kNumSchedules = 15;

// How a taskloop is split into tasks.
enum class Split { kNone, kGrainsize, kGrainsizeStrict, kNumTasks, kNumTasksStrict };
inline constexpr const char* kSplitNames[] = {"tasks", "grainsize", "grainsize-strict", "num-tasks", "num-tasks-strict"};
inline constexpr int kNumSplits = 5;

// The values of a loop variable. They are kept as 64 bits, modulo 2^64: an integer with its sign,
// the number of a pointer's element, an iterator's position.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 0;  // iterations
};

struct Loop {
  Construct construct = Construct::kFor;
  Type type = Type::kInt32;
  Form form = Form::kLess;
  Schedule schedule = Schedule::kNone;
  Split split = Split::kNone;
  int chunk = 1;        // of the schedule or the split
  int num_threads = 1;  // of kParallelFor's region
  int compiler = 0;     // which Constructs run it
  Range outer;
  Range inner;                  // of kCollapse
  std::uint64_t cancel_at = 0;  // the iteration that cancels

  std::uint64_t count() const { return construct == Construct::kCollapse ? outer.count * inner.count : outer.count; }
};

// Loops that one team runs one after the other; or one of kParallelFor.
struct Group {
  std::uint64_t seed = 0;
  int num_threads = 1;
  int compiler = 0;  // whose region it is
  omp_sched_t runtime_schedule = omp_sched_static;
  int runtime_chunk = 0;
  std::vector<Loop> loops;
};

}  // namespace loop_fuzzer

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
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
inline constexpr const char* kConstructNames[] = {
    "for",      "nowait",           "parallel-for",  "ordered",
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
inline constexpr const char* kTypeNames[] = {"int32",  "uint32",  "int64",
                                             "uint64", "pointer", "iterator"};
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
inline constexpr const char* kFormNames[] = {
    "i < end; i += step",  "i <= end; i += step", "i != end; ++i",           "i > end; i -= step",
    "i >= end; i -= step", "i != end; --i",       "i > end; i += minus_step"};
inline constexpr int kNumForms = 7;

constexpr bool goes_up(Form form) { return form <= Form::kUpTo; }
constexpr bool has_step_one(Form form) { return form == Form::kUpTo || form == Form::kDownTo; }
constexpr bool is_inclusive(Form form) {
  return form == Form::kLessEqual || form == Form::kGreaterEqual;
}

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
inline constexpr const char* kSplitNames[] = {"tasks", "grainsize", "grainsize-strict", "num-tasks",
                                              "num-tasks-strict"};
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

  std::uint64_t count() const {
    return construct == Construct::kCollapse ? outer.count * inner.count : outer.count;
  }
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

// The words by which --only chooses loops.
inline std::vector<std::string_view> kinds_of(const Loop& loop, std::string_view compiler) {
  const bool splits = is_taskloop(loop.construct);
  return {kConstructNames[static_cast<int>(loop.construct)],
          kTypeNames[static_cast<int>(loop.type)], goes_up(loop.form) ? "up" : "down",
          splits ? kSplitNames[static_cast<int>(loop.split)]
                 : kScheduleNames[static_cast<int>(loop.schedule)],
          compiler};
}

inline std::vector<std::string_view> all_kinds() {
  std::vector<std::string_view> kinds = {"up", "down", "by_gcc", "by_clang"};
  kinds.insert(kinds.end(), std::begin(kConstructNames), std::end(kConstructNames));
  kinds.insert(kinds.end(), std::begin(kTypeNames), std::end(kTypeNames));
  kinds.insert(kinds.end(), std::begin(kScheduleNames), std::end(kScheduleNames));
  kinds.insert(kinds.end(), std::begin(kSplitNames), std::end(kSplitNames));
  return kinds;
}

inline std::string describe(const Range& range, Type type) {
  const auto number = [type](std::uint64_t bits) {
    return type == Type::kUint32 || type == Type::kUint64
               ? std::to_string(bits)
               : std::to_string(static_cast<std::int64_t>(bits));
  };
  return "first " + number(range.first) + ", end " + number(range.end) + ", step " +
         std::to_string(range.step) + ", " + std::to_string(range.count) + " iterations";
}

// One line with all that is known of the loop.
inline std::string describe(const Loop& loop, std::string_view compiler) {
  std::string text;
  for (std::string_view kind : kinds_of(loop, compiler)) text += std::string(kind) + " ";
  text += "(" + std::string(kFormNames[static_cast<int>(loop.form)]) +
          "): " + describe(loop.outer, loop.type);
  if (loop.construct == Construct::kCollapse) text += "; inner: " + describe(loop.inner, loop.type);
  text += "; chunk " + std::to_string(loop.chunk);
  if (is_cancelled(loop.construct))
    text += "; cancelled in iteration " + std::to_string(loop.cancel_at);
  return text;
}

inline std::string describe_team(const Group& group, std::string_view compiler) {
  return std::to_string(group.num_threads) + " threads in a region " + std::string(compiler) +
         "; runtime schedule " + std::to_string(static_cast<unsigned>(group.runtime_schedule)) +
         "," + std::to_string(group.runtime_chunk);
}

// What a pointer of a loop points to. Its size is no power of two.
struct Element {
  char bytes[12];
};
inline constexpr std::uint64_t kNumElements = 1U << 28;

// Addresses that nothing else uses. Nobody reads the elements, and they take no memory.
inline Element* elements() {
  static Element* const first = [] {
    void* const memory = mmap(nullptr, kNumElements * sizeof(Element), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("loop_fuzzer: mmap");
      std::exit(2);
    }
    return static_cast<Element*>(memory);
  }();
  return first;
}

// A random access iterator over positions. Its copies are not trivial, so that a compiler copies it
// by a function of the task.
class Iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using pointer = const std::int64_t*;
  using reference = std::int64_t;

  Iterator() = default;
  explicit Iterator(std::int64_t position) : position_(position) {}
  Iterator(const Iterator& other) : position_(other.position_) {}
  Iterator& operator=(const Iterator& other) {
    position_ = other.position_;
    return *this;
  }
  ~Iterator() { position_ = 0; }

  std::int64_t operator*() const { return position_; }
  Iterator& operator++() { return *this += 1; }
  Iterator& operator--() { return *this -= 1; }
  Iterator& operator+=(std::int64_t distance) {
    position_ += distance;
    return *this;
  }
  Iterator& operator-=(std::int64_t distance) {
    position_ -= distance;
    return *this;
  }
  friend Iterator operator+(Iterator from, std::int64_t distance) { return from += distance; }
  friend Iterator operator-(Iterator from, std::int64_t distance) { return from -= distance; }
  friend std::int64_t operator-(const Iterator& to, const Iterator& from) {
    return to.position_ - from.position_;
  }
  friend auto operator<=>(const Iterator& left, const Iterator& right) {
    return left.position_ <=> right.position_;
  }
  friend bool operator==(const Iterator& left, const Iterator& right) {
    return left.position_ == right.position_;
  }

 private:
  std::int64_t position_ = 0;
};

// What a Type is in the program, and how its values are kept in a Range.
template <class T>
struct Values {
  using Step = T;
  static T make(std::uint64_t bits) { return static_cast<T>(bits); }
  static std::uint64_t bits(T value) { return static_cast<std::uint64_t>(value); }
};
template <>
struct Values<Element*> {
  using Step = std::ptrdiff_t;
  static Element* make(std::uint64_t bits) { return elements() + bits; }
  static std::uint64_t bits(const Element* value) {
    return static_cast<std::uint64_t>(value - elements());
  }
};
template <>
struct Values<Iterator> {
  using Step = std::int64_t;
  static Iterator make(std::uint64_t bits) { return Iterator(static_cast<std::int64_t>(bits)); }
  static std::uint64_t bits(const Iterator& value) { return static_cast<std::uint64_t>(*value); }
};

// Which iteration of the range has this value; `count` or more: none has.
template <class T>
std::uint64_t find_iteration(const Range& range, Form form, const T& value) {
  const std::uint64_t bits = Values<T>::bits(value);
  const std::uint64_t distance = goes_up(form) ? bits - range.first : range.first - bits;
  return distance % range.step == 0 ? distance / range.step : range.count;
}

}  // namespace loop_fuzzer

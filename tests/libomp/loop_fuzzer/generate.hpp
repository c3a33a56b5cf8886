// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "bench/common/random.hpp"
#include "loop.hpp"

namespace loop_fuzzer {

// Whether GCC decides who runs which iteration, without the runtime.
inline bool is_shared_out_by_gcc(const Loop& loop) {
  if (is_taskloop(loop.construct) || loop.construct == Construct::kOrdered) return false;
  return loop.schedule == Schedule::kNone || loop.schedule == Schedule::kStatic ||
         loop.schedule == Schedule::kStaticChunk || loop.schedule == Schedule::kAuto;
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
    return loop.type == Type::kUint32 || loop.type == Type::kUint64 ||
           (loop.type == Type::kPointer && is_down);
  return loop.type == Type::kUint32 && is_down && loop.construct != Construct::kCollapse &&
         !is_shared_out_by_gcc(loop);
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

// Makes a random group. Equal seeds, threads and numbers of compilers give equal groups. Its loops
// are those that OpenMP allows. The loop variable stays in its type's limits when it steps over the
// last value, as in a serial loop. So does the distance of the bounds, plus a step: compilers
// compute the number of iterations from it in the variable's type.
class Generator {
 public:
  Generator(std::uint64_t seed, int max_threads, int num_compilers)
      : random_(seed), max_threads_(max_threads), num_compilers_(num_compilers) {
    group_.seed = seed;
  }

  Group make() {
    group_.num_threads = 1 + below(max_threads_);
    group_.compiler = below(num_compilers_);
    static constexpr omp_sched_t kKinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided,
                                             omp_sched_auto};
    group_.runtime_schedule = kKinds[below(4)];
    group_.runtime_chunk = one_in(3) ? 0 : 1 + below(kMaxRuntimeChunk);
    if (one_in(4)) {
      group_.loops.push_back(loop(Construct::kParallelFor));
      return group_;
    }
    const int num_loops = 1 + below(4);
    while (static_cast<int>(group_.loops.size()) < num_loops) {
      const auto construct = static_cast<Construct>(below(kNumConstructs));
      group_.loops.push_back(
          loop(construct == Construct::kParallelFor ? Construct::kForNowait : construct));
    }
    return group_;
  }

 private:
  static constexpr int kMaxRuntimeChunk = 20;

  int below(int bound) {
    return static_cast<int>(random_.below(static_cast<std::uint32_t>(bound)));
  }
  bool one_in(int chances) { return random_.one_in(static_cast<std::uint32_t>(chances)); }
  // 0 <= result <= limit
  std::uint64_t up_to(std::uint64_t limit) {
    return limit == UINT64_MAX ? random_.next() : random_.next() % (limit + 1);
  }

  Loop loop(Construct construct) {
    Loop loop;
    loop.construct = construct;
    loop.num_threads = group_.num_threads;
    loop.compiler = below(num_compilers_);
    do loop.type = static_cast<Type>(below(kNumTypes));
    while (construct == Construct::kDoacross &&
           loop.type == Type::kIterator);  // GCC does not compile it
    loop.form = form(loop);
    loop.schedule = schedule(construct);
    if (is_taskloop(construct)) loop.split = static_cast<Split>(below(kNumSplits));
    const bool collapses = construct == Construct::kCollapse;
    loop.outer = range(loop, collapses ? 12 : 150);
    if (collapses) loop.inner = range(loop, 12);
    // GCC's library multiplies the two.
    const std::uint64_t max_chunk = std::max<std::uint64_t>(INT64_MAX / loop.outer.step, 1);
    loop.chunk = static_cast<int>(
        std::min<std::uint64_t>(static_cast<std::uint64_t>(chunk(loop.count())), max_chunk));
    loop.cancel_at = up_to(loop.count());
    return loop;
  }

  Form form(const Loop& loop) {
    if (loop.construct == Construct::kDoacross) return one_in(2) ? Form::kUpTo : Form::kDownTo;
    const bool is_unsigned = loop.type == Type::kUint32 || loop.type == Type::kUint64;
    return static_cast<Form>(below(is_unsigned ? kNumForms - 1 : kNumForms));
  }

  Schedule schedule(Construct construct) {
    const auto any = static_cast<Schedule>(below(kNumSchedules));
    if (construct == Construct::kCollapse || construct == Construct::kReduction ||
        construct == Construct::kCancelFor) {
      static constexpr Schedule kFew[] = {Schedule::kNone, Schedule::kStaticChunk,
                                          Schedule::kDynamicChunk, Schedule::kGuidedChunk,
                                          Schedule::kRuntime};
      return kFew[below(5)];
    }
    const bool waits = construct == Construct::kOrdered || construct == Construct::kDoacross;
    // OpenMP forbids the modifier beside an ordered clause.
    if (waits && any == Schedule::kNonmonotonicDynamic) return Schedule::kDynamicChunk;
    if (waits && any == Schedule::kNonmonotonicGuided) return Schedule::kGuidedChunk;
    if (waits && any == Schedule::kNonmonotonicRuntime) return Schedule::kRuntime;
    return any;
  }

  int chunk(std::uint64_t count) {
    if (one_in(3)) return 1;
    if (one_in(2)) return 1 + below(6);
    // At most 2^23: times the threads, it must fit into the 32 bits in which GCC computes who has a
    // static chunk.
    return one_in(5) ? 1 << below(24) : 1 + static_cast<int>(up_to(count));
  }

  std::uint64_t count(int limit) {
    if (one_in(12)) return 0;
    if (one_in(8)) return 1;
    return static_cast<std::uint64_t>(one_in(3) ? 2 + below(7) : below(limit));
  }

  // The values that a type has: `last` + 1 of them from `lowest` on. Differences go up to
  // max_distance.
  struct Limits {
    std::uint64_t lowest;
    std::uint64_t last;
    std::uint64_t max_distance;
  };
  static constexpr Limits limits_of(Type type) {
    switch (type) {
      case Type::kInt32:
        return {0 - (std::uint64_t{1} << 31), UINT32_MAX, INT32_MAX};
      case Type::kUint32:
        return {0, UINT32_MAX, UINT32_MAX};
      case Type::kInt64:
        return {std::uint64_t{1} << 63, UINT64_MAX, INT64_MAX};
      case Type::kUint64:
        return {0, UINT64_MAX, UINT64_MAX};
      case Type::kPointer:
        return {0, kNumElements - 1, kNumElements - 1};
      case Type::kIterator:  // the difference of two must be representable
        break;
    }
    return {0 - (std::uint64_t{1} << 62), INT64_MAX, INT64_MAX};
  }

  Range range(const Loop& loop, int max_count) {
    const Limits limits = limits_of(loop.type);
    Range range;
    range.count = count(max_count);
    // The second bound is for chunks of the runtime schedule.
    const std::uint64_t divisor = std::max<std::uint64_t>(range.count + 1, kMaxRuntimeChunk);
    range.step = has_step_one(loop.form) ? 1 : std::min(step(), limits.max_distance / divisor);
    const std::uint64_t width = range.count * range.step;
    // From `low` to `high`, both counted from the type's lowest value. One of them is the first
    // value, the other one is where a serial loop would leave the variable.
    const std::uint64_t low = place(limits, limits.last - width);
    const std::uint64_t high = low + width;
    const bool up = goes_up(loop.form);
    range.first = up ? low : high;
    range.end = up ? high : low;
    // Steps need not divide the distance.
    const std::uint64_t slack = has_step_one(loop.form) ? 0
                                : range.count > 0       ? up_to(range.step - 1)
                                                        : 0;
    if (range.count == 0 && !has_step_one(loop.form)) return empty(range, loop, limits);
    const std::uint64_t inclusive = is_inclusive(loop.form) ? 1 : 0;
    range.end = up ? range.end - slack - inclusive : range.end + slack + inclusive;
    return moved(range, limits);
  }

  // Without iterations: the end is not behind the first value.
  Range empty(Range range, const Loop& loop, const Limits& limits) {
    const bool up = goes_up(loop.form);
    if (is_inclusive(loop.form))
      range.first = std::clamp<std::uint64_t>(range.first, 1, limits.last - 1);
    const std::uint64_t room =
        std::min((up ? range.first : limits.last - range.first) - (is_inclusive(loop.form) ? 1 : 0),
                 limits.max_distance - 1);
    const std::uint64_t distance =
        (is_inclusive(loop.form) ? 1 : 0) +
        (one_in(4) ? up_to(room) : up_to(std::min<std::uint64_t>(room, 5)));
    range.end = up ? range.first - distance : range.first + distance;
    return moved(range, limits);
  }

  static Range moved(Range range, const Limits& limits) {
    range.first += limits.lowest;
    range.end += limits.lowest;
    return range;
  }

  std::uint64_t step() {
    if (one_in(3)) return 1;
    if (one_in(2)) return 1 + static_cast<std::uint64_t>(below(16));
    return std::max<std::uint64_t>(random_.next() >> below(64), 1);
  }

  // Somewhere in [0, room], most often near a limit of this type or of another one.
  std::uint64_t place(const Limits& limits, std::uint64_t room) {
    const auto few = static_cast<std::uint64_t>(below(20));
    switch (below(6)) {
      case 0:
        return std::min(few, room);
      case 1:
        return room - std::min(few, room);
      case 2:
        return up_to(room);
      case 3:
        return std::min(few - limits.lowest, room);  // near the value 0
      default: {
        const std::uint64_t power = std::uint64_t{1} << below(64);
        return std::min(power - limits.lowest - few, room);
      }
    }
  }

  hierbar::test::Random random_;
  const int max_threads_;
  const int num_compilers_;
  Group group_;
};

}  // namespace loop_fuzzer

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/histogram.hpp"
#include "trace/stamps.h"
#include "trace/trace_clock.hpp"

namespace hierbar::report {

// A variable that one thread writes. Other threads read it after the recorded barriers have ordered
// the read behind the write. The barriers belong to the runtime, so neither the compiler nor a
// sanitizer sees that order. A cancelled region may lack it: then the value is stale, and its
// episode number shows that. Relaxed, because all that is needed is a value that is not torn.
template <class T>
class Relaxed {
 public:
  Relaxed() noexcept : value_(T{}) {}
  Relaxed(const Relaxed&) = delete;
  void operator=(const Relaxed& other) noexcept { *this = static_cast<T>(other); }
  operator T() const noexcept { return value_.load(std::memory_order_relaxed); }
  void operator=(T value) noexcept { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<T> value_;
};

// One level of the tree: which threads wait for each other, and what they share.
struct LevelGroups {
  struct Group {
    std::string unit;                    // "L3"; empty if unknown
    std::vector<std::uint32_t> threads;  // the gathering thread first; exchange: all leaders
  };
  std::string name;  // the units of all groups, "L3" or "L3/NUMA"; empty if unknown
  std::vector<Group> groups;
};

// The unit's name for people. Empty for an unknown unit.
const char* unit_name(std::uint32_t unit);

// The tree of a team's barrier. The roots are the leaders, which exchange. `units` and `exchange`
// are as in hierbar_trace_interface; empty and 0 if the runtime does not report them.
struct Shape {
  Shape(std::uint64_t number, std::vector<std::uint32_t> tree,
        const std::vector<std::uint8_t>& units = {}, std::uint32_t exchange = 0);

  std::uint64_t serial;
  std::vector<std::uint32_t> parents;  // by thread; for a leader, its own number
  std::vector<std::uint32_t> depths;   // by thread; 0 for a leader
  std::uint32_t num_levels = 0;        // the largest depth
  // levels[0] is the exchange. levels[d] has the groups that gather and release threads of depth d.
  std::vector<LevelGroups> levels;
};

// The times of one thread in one episode, in ticks. It has the layout of hierbar_phases, because
// the runtime writes into it.
struct Phases {
  Relaxed<std::uint64_t> arrived;  // the thread came to the barrier
  Relaxed<std::uint64_t> gathered;
  Relaxed<std::uint64_t> released;  // the thread left; 0 if reported too late or not at all
  Relaxed<std::uint64_t> shape;     // 0: the levels of the episode are not known
};
static_assert(sizeof(Phases) == sizeof(hierbar_phases) &&
              offsetof(Phases, released) == offsetof(hierbar_phases, released));

// The time that the barriers of one site spent at each level of their tree, along the critical
// path. The path goes from the last arrival up to that thread's leader, through the exchange to the
// leader of the thread that was released last, and down to that thread.
//
//   gather[l]   from depth l + 1 to depth l: until a thread of depth l has gathered its group
//   exchange    from the arrival of the first leader of the path until the other one knows that
//               all have come
//   release[l]  from depth l to depth l + 1
//   outside     the rest of the barrier: for a rank, its path out of MPI_Barrier; for threads 0
//
// For each episode these sum up to the time from the last arrival to the last release.
struct LevelTimes {
  std::vector<Histogram> gather;
  Histogram exchange;
  std::vector<Histogram> release;
  Histogram outside;
  std::uint64_t total_ns = 0;  // the sum over all episodes and steps; not written to files
  // The groups of the tree that was used last, as in Shape. Filled in for reports.
  std::vector<LevelGroups> groups;

  // Adds one episode of a tree without levels. Such an episode is one exchange.
  void add_exchange(std::uint64_t ns) {
    exchange.add(ns);
    outside.add(0);
    total_ns += ns;
  }
  void merge(const LevelTimes& other);
  // Whether the steps sum up to the total, except for what each step loses when it is rounded down
  // to whole ns.
  bool adds_up() const;
  // Adds the names of another tree's levels. Its groups are not added, because their threads have
  // the same numbers as those of this tree.
  void merge_groups(const std::vector<LevelGroups>& other);
};

// Adds one episode. phases[i] are the phases of thread i, and `span` is the duration of the barrier
// as OMPT reports it, in ticks. If the stamps contradict each other, because the clocks of two cpus
// differ, it adds nothing and returns false.
bool add_episode(LevelTimes& times, const Shape& shape, const std::vector<const Phases*>& phases,
                 std::uint64_t span, const TraceClock& clock);

}  // namespace hierbar::report

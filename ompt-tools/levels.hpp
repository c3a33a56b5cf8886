// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ompt-tools/relaxed.hpp"
#include "trace/histogram.hpp"
#include "trace/stamps.h"
#include "trace/trace_clock.hpp"

namespace hierbar::ompt {

// Who waits for whom at one level of the tree, and what they have in common.
struct LevelGroups {
  struct Group {
    std::string unit;                    // "L3"; empty: not known
    std::vector<std::uint32_t> threads;  // first the one that gathers; at the exchange all leaders
  };
  std::string name;  // the units of all groups, "L3" or "L3/NUMA"; empty: not known
  std::vector<Group> groups;
};

// As people write it; empty for an unknown one.
const char* unit_name(std::uint32_t unit);

// The tree that a team's barrier runs on. The leaders are the roots; they exchange. `units` and `exchange` are as in
// hierbar_trace_interface; none when the runtime does not tell.
struct Shape {
  Shape(std::uint64_t number, std::vector<std::uint32_t> tree, const std::vector<std::uint8_t>& units = {},
        std::uint32_t exchange = 0);

  std::uint64_t serial;
  std::vector<std::uint32_t> parents;  // by thread; its own number for a leader
  std::vector<std::uint32_t> depths;   // 0 for a leader
  std::uint32_t num_levels = 0;        // the largest depth
  std::vector<LevelGroups> levels;     // 0: the exchange; l: what is gathered from depth l and released to it
};

// When one thread went through the phases of one episode, in ticks. A hierbar_phases, into which the runtime writes.
struct Phases {
  Relaxed<std::uint64_t> arrived;  // it came to the barrier
  Relaxed<std::uint64_t> gathered;
  Relaxed<std::uint64_t> released;  // it left; 0 when the runtime does not say, or too late
  Relaxed<std::uint64_t> shape;     // 0: the episode went another way, or nobody tells its levels
};
static_assert(sizeof(Phases) == sizeof(hierbar_phases) && offsetof(Phases, released) == offsetof(hierbar_phases, released));

// What the barriers of one site spent at each level of their tree, along the critical path: from the last arrival up to that
// thread's leader, through the exchange to the leader of the thread that was released last, and down to it.
//
//   gather[l]   until a thread of depth l has gathered its group: the path's way from depth l + 1 to depth l
//   exchange    from the arrival of the last thread's leader to the sight of all by the other leader
//   release[l]  from depth l to depth l + 1
//   outside     the rest of the barrier: a rank's way out of MPI_Barrier, and nothing for threads
//
// For one episode they sum up to the time from the last arrival to the last release.
struct LevelTimes {
  std::vector<Histogram> gather;
  Histogram exchange;
  std::vector<Histogram> release;
  Histogram outside;
  std::uint64_t total_ns = 0;       // what the steps of all episodes sum up to; not kept in files
  std::vector<LevelGroups> groups;  // as in Shape, of the tree that was used last; filled in for reports

  // One episode of a tree without levels, which is one exchange.
  void add_exchange(std::uint64_t ns) {
    exchange.add(ns);
    outside.add(0);
    total_ns += ns;
  }
  void merge(const LevelTimes& other);
  // Whether the steps sum up to the total, but for what each of them lost when it was rounded down to whole ns.
  bool adds_up() const;
  // The groups of another tree are not added, because their threads have the same numbers; the names of its levels are.
  void merge_groups(const std::vector<LevelGroups>& other);
};

// Adds one episode, of which phases[i] are thread i's and which took `span` ticks as OMPT has it. Returns false, and adds
// nothing, when the stamps contradict each other: the clocks of two processors differ.
bool add_episode(LevelTimes& times, const Shape& shape, const std::vector<const Phases*>& phases, std::uint64_t span,
                 const TraceClock& clock);

}  // namespace hierbar::ompt

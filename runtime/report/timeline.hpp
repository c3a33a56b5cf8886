// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hierbar::report {

// Time lines for pictures: plain data, of one process or of several, that says when which thread
// was in which barrier.

enum class Step : std::uint8_t {
  kBarrier,    // from the thread's arrival to its leaving
  kGather,     // until the thread's group is complete
  kExchange,   // for a leader: until it knows that all have come
  kRelease,    // for any other thread: until it knows that all have come
  kImbalance,  // if levels are not known: until the last thread had nothing left to do
  kSync,       // if levels are not known: the rest
  kTask        // a task that the thread ran while it waited
};
inline constexpr std::size_t kNumSteps = 7;
const char* step_name(Step step);

struct Slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  Step step = Step::kBarrier;
  std::uint32_t site = 0;  // for barriers: index into Timeline::sites
};

struct ThreadTimeline {
  std::uint32_t number = 0;
  std::vector<Slice> slices;
};

struct ProcessTimeline {
  long rank = -1;  // -1: not known
  long pid = 0;
  std::string host;
  std::string part;  // empty: the process's threads; else the name of another part of the process
  // Added to a slice's time, which is CLOCK_MONOTONIC of the host, it gives the time of day.
  std::int64_t realtime_offset_ns = 0;
  std::uint64_t dropped = 0;  // events that were overwritten or left out
  std::vector<ThreadTimeline> threads;
};

struct Timeline {
  std::vector<std::pair<std::string, std::string>> sites;  // place and kind, as in SiteReport
  std::vector<ProcessTimeline> processes;
};

// Orders the slices by their begin, longer ones first. Then makes any two of them disjoint or
// nested, by cutting off what overlaps. Slices overlap only if the clocks of two cpus differ.
void nest(std::vector<Slice>& slices);

// Adds the processes of another time line. Processes of one host share its clock. Hosts are aligned
// by their times of day.
void merge_timeline(Timeline& into, const Timeline& from);

}  // namespace hierbar::report

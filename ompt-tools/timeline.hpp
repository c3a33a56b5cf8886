// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hierbar::ompt {

// When threads were in which barrier, for pictures: plain data, of one process or of several.

enum class Step : std::uint8_t {
  kBarrier,    // from arrival to leaving
  kGather,     // until the thread's group is complete
  kExchange,   // until a leader knows that all have come
  kRelease,    // until another thread does
  kImbalance,  // where levels are not known: until the last thread had nothing left to do
  kSync,       // and from there on
  kTask        // a task that ran while the thread waited
};
inline constexpr std::size_t kNumSteps = 7;
const char* step_name(Step step);

struct Slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  Step step = Step::kBarrier;
  std::uint32_t site = 0;  // index into Timeline::sites, of barriers
};

struct ThreadTimeline {
  std::uint32_t number = 0;
  std::vector<Slice> slices;
};

struct ProcessTimeline {
  long rank = -1;  // -1: not known
  long pid = 0;
  std::string host;
  std::string part;                     // what of the process it is, when it is not its threads
  std::int64_t realtime_offset_ns = 0;  // what makes the host's CLOCK_MONOTONIC, which slices are in, the time of day
  std::uint64_t dropped = 0;            // events that were overwritten or left out
  std::vector<ThreadTimeline> threads;
};

struct Timeline {
  std::vector<std::pair<std::string, std::string>> sites;  // where and kind, as in SiteReport
  std::vector<ProcessTimeline> processes;
};

// Orders the slices by their begin, those that contain others first, and makes any two of them disjoint or one within the other:
// what sticks out is cut off. It does only where the clocks of two cpus differ.
void nest(std::vector<Slice>& slices);

// Adds the processes of another time line. Those of one host have one clock; other hosts are aligned by their times of day.
void merge_timeline(Timeline& into, const Timeline& from);

}  // namespace hierbar::ompt

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/timeline.hpp"

#include <algorithm>
#include <iterator>

namespace hierbar::report {
namespace {

std::uint32_t site_index(Timeline& timeline, const std::pair<std::string, std::string>& site) {
  const auto found = std::find(timeline.sites.begin(), timeline.sites.end(), site);
  const auto index = static_cast<std::uint32_t>(found - timeline.sites.begin());
  if (found == timeline.sites.end()) timeline.sites.push_back(site);
  return index;
}

// What must be added to a process's times, so that they are on the clock of the time line, which is
// that of its first process's host. It is a two's complement: a shift back is a large number, and
// the sum wraps to the right one. The offsets come from files, and the difference of two may not
// fit into a signed number.
std::uint64_t shift_ns(const Timeline& timeline, const ProcessTimeline& process) {
  if (timeline.processes.empty()) return 0;
  const auto known = std::find_if(timeline.processes.begin(), timeline.processes.end(),
                                  [&](const ProcessTimeline& other) { return other.host == process.host; });
  const ProcessTimeline& clock = known == timeline.processes.end() ? process : *known;
  return static_cast<std::uint64_t>(clock.realtime_offset_ns) -
         static_cast<std::uint64_t>(timeline.processes.front().realtime_offset_ns);
}

}  // namespace

const char* step_name(Step step) {
  static constexpr const char* kNames[] = {"barrier", "gather", "exchange", "release", "imbalance", "sync", "task"};
  static_assert(std::size(kNames) == kNumSteps);
  return kNames[static_cast<std::size_t>(step)];
}

void nest(std::vector<Slice>& slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  std::vector<std::uint64_t> open;  // the ends of the slices that contain this one
  for (Slice& slice : slices) {
    slice.end_ns = std::max(slice.begin_ns, slice.end_ns);
    while (!open.empty() && open.back() <= slice.begin_ns) open.pop_back();
    if (!open.empty()) slice.end_ns = std::min(slice.end_ns, open.back());
    open.push_back(slice.end_ns);
  }
}

void merge_timeline(Timeline& into, const Timeline& from) {
  std::vector<std::uint32_t> sites;
  for (const auto& site : from.sites) sites.push_back(site_index(into, site));
  for (const ProcessTimeline& process : from.processes) {
    const std::uint64_t shift = shift_ns(into, process);
    ProcessTimeline& added = into.processes.emplace_back(process);
    for (ThreadTimeline& thread : added.threads) {
      for (Slice& slice : thread.slices) {
        slice.begin_ns += shift;
        slice.end_ns += shift;
        if (!sites.empty()) slice.site = sites[slice.site];
      }
    }
  }
}

}  // namespace hierbar::report

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/timeline.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>

#include "report/report.hpp"

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
  const auto known =
      std::find_if(timeline.processes.begin(), timeline.processes.end(),
                   [&](const ProcessTimeline& other) { return other.host == process.host; });
  const ProcessTimeline& clock = known == timeline.processes.end() ? process : *known;
  return static_cast<std::uint64_t>(clock.realtime_offset_ns) -
         static_cast<std::uint64_t>(timeline.processes.front().realtime_offset_ns);
}

}  // namespace

const char* step_name(Step step) {
  static constexpr const char* kNames[] = {"barrier",   "gather", "exchange", "release",
                                           "imbalance", "sync",   "task"};
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

namespace {

// Converts ticks to the host's CLOCK_MONOTONIC, by two readings of both clocks. A tick rate that
// was measured over 2 ms would be wrong by milliseconds after minutes
// (docs/design/reports.md#d0058).
class MonotonicTime {
 public:
  MonotonicTime(TraceClock::Anchor start, TraceClock::Anchor end)
      : start_(start),
        ns_per_tick_(
            static_cast<long double>(end.ns - start.ns) /
            static_cast<long double>(std::max<std::uint64_t>(end.ticks - start.ticks, 1))) {}

  std::uint64_t operator()(std::uint64_t ticks) const {
    const auto since =
        static_cast<long double>(static_cast<std::int64_t>(ticks - start_.ticks)) * ns_per_tick_;
    return start_.ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(since));
  }

 private:
  const TraceClock::Anchor start_;
  const long double ns_per_tick_;
};

std::int64_t realtime_offset_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec -
         static_cast<std::int64_t>(read_system_ns());
}

// What only all threads of a barrier know together.
struct Episode {
  std::uint64_t last = 0;      // when the last thread had nothing left to do
  std::uint64_t released = 0;  // when the primary was released
};
using Episodes = std::map<std::pair<const void*, std::uint64_t>, Episode>;

// Converts one thread's events to slices.
class Slicer {
 public:
  Slicer(std::vector<Slice>& slices, const Episodes& episodes, const MonotonicTime& time)
      : slices_(slices), episodes_(episodes), time_(time) {}

  void add(const RawEvent& event, std::uint32_t site) {
    if (event.team == nullptr) return add(Step::kTask, event.begin, event.end, 0);
    const Episode& episode = episodes_.at({event.team, event.episode});
    // At the end of a region a worker's release is not known. The primary's is used.
    const std::uint64_t end =
        std::max({event.end != 0 ? event.end : episode.released, event.begin, event.done});
    add(Step::kBarrier, event.begin, end, site);
    if (event.has_levels) {
      if (event.gathered != 0) add(Step::kGather, event.begin, event.gathered, site);
      add(event.is_leader ? Step::kExchange : Step::kRelease,
          event.gathered != 0 ? event.gathered : event.begin, end, site);
    } else {
      const std::uint64_t last = std::clamp(episode.last, event.begin, end);
      add(Step::kImbalance, event.begin, last, site);
      add(Step::kSync, last, end, site);
    }
  }

 private:
  void add(Step step, std::uint64_t begin, std::uint64_t end, std::uint32_t site) {
    slices_.push_back({time_(begin), time_(end), step, site});
  }

  std::vector<Slice>& slices_;
  const Episodes& episodes_;
  const MonotonicTime& time_;
};

// Numbers the sites in the order of their first events.
class Sites {
 public:
  explicit Sites(Timeline& timeline) : timeline_(timeline) {}

  std::uint32_t of(const RawEvent& event) {
    const auto [position, is_new] = known_.emplace(
        std::pair(event.address, event.kind), static_cast<std::uint32_t>(timeline_.sites.size()));
    if (is_new)
      timeline_.sites.emplace_back(to_string(place_of(event.address), event.address),
                                   kind_name(event.kind));
    return position->second;
  }

 private:
  Timeline& timeline_;
  KeptDebugFiles files_;
  std::map<std::pair<const void*, std::uint32_t>, std::uint32_t> known_;
};

}  // namespace

RawTrace::RawTrace(std::size_t ring_size, const TraceClock& clock)
    : ring_size_(ring_size), clock_(clock), start_(clock.anchor()) {}

RawRing* RawTrace::add_thread(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  while (!numbers_.insert(number).second) ++number;
  return &threads_.emplace_back(std::make_unique<Owned>(number, ring_size_))->ring;
}

std::uint64_t RawTrace::kept() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& thread : threads_) sum += thread->ring.kept();
  return sum;
}

std::uint64_t RawTrace::dropped() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& thread : threads_) sum += thread->ring.dropped();
  return sum;
}

Timeline RawTrace::timeline(const Process& process) const {
  const MonotonicTime time(start_, clock_.anchor());
  Timeline timeline;
  ProcessTimeline& own = timeline.processes.emplace_back();
  own.rank = process.rank;
  own.pid = process.pid;
  own.host = process.host;
  own.realtime_offset_ns = realtime_offset_ns();
  own.dropped = dropped();
  const std::lock_guard lock(mutex_);
  Episodes episodes;
  for (const auto& thread : threads_) {
    thread->ring.for_each([&](const RawEvent& event) {
      if (event.team == nullptr) return;
      Episode& episode = episodes[{event.team, event.episode}];
      episode.last = std::max(episode.last, event.done);
      if (event.me == 0) episode.released = event.end;
    });
  }
  Sites sites(timeline);
  for (const auto& thread : threads_) {
    ThreadTimeline& added = own.threads.emplace_back();
    added.number = thread->number;
    Slicer slicer(added.slices, episodes, time);
    thread->ring.for_each([&](const RawEvent& event) {
      slicer.add(event, event.team == nullptr ? 0 : sites.of(event));
    });
    nest(added.slices);
  }
  return timeline;
}

}  // namespace hierbar::report

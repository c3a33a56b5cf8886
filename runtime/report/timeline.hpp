// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/settings.hpp"
#include "trace/trace_clock.hpp"

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

// One barrier of a thread, or one task that it ran there. Times are in ticks.
struct RawEvent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;       // 0: the runtime did not report when the thread was released
  std::uint64_t done = 0;      // as in Record
  const void* team = nullptr;  // of the barrier; null for a task
  std::uint64_t episode = 0;   // its number in the team
  std::uint32_t me = 0;
  std::uint32_t kind = 0;
  const void* address = nullptr;
  bool has_levels = false;
  std::uint64_t gathered = 0;  // as in Phases
  bool is_leader = false;      // the thread is in the exchange
};

// The last events of one thread, in memory of a fixed size. Only the thread adds events; others may
// read when it has stopped.
class RawRing {
 public:
  explicit RawRing(std::size_t size) : events_(size) {}

  void add(const RawEvent& event) noexcept {
    events_[next_] = event;
    if (++next_ == events_.size()) next_ = 0;
    ++count_;
  }
  // The newest event. Null if there is none.
  RawEvent* last() noexcept {
    return count_ == 0 ? nullptr : &events_[next_ == 0 ? events_.size() - 1 : next_ - 1];
  }
  std::uint64_t kept() const noexcept { return count_ < events_.size() ? count_ : events_.size(); }
  std::uint64_t dropped() const noexcept { return count_ - kept(); }
  // Visits the events, the oldest first.
  template <class Visitor>
  void for_each(Visitor&& visitor) const {
    const std::size_t first = count_ < events_.size() ? 0 : next_;
    for (std::size_t i = 0; i < kept(); ++i) visitor(events_[(first + i) % events_.size()]);
  }

 private:
  std::vector<RawEvent> events_;
  std::size_t next_ = 0;
  std::uint64_t count_ = 0;
};

// The rings of all threads. A ring is made in a thread's first region and never freed, so that
// adding an event does not allocate.
class RawTrace {
 public:
  RawTrace(std::size_t ring_size, const TraceClock& clock);

  // Makes the calling thread's ring. `number` names the thread for people; if another thread has
  // it, the next free number is used.
  RawRing* add_thread(std::uint32_t number);

  std::uint64_t kept() const;
  std::uint64_t dropped() const;

  // All events that are kept. Requires that no thread adds any more.
  Timeline timeline(const Process& process) const;

 private:
  struct Owned {
    Owned(std::uint32_t known_by, std::size_t size) : number(known_by), ring(size) {}
    std::uint32_t number;
    RawRing ring;
  };

  const std::size_t ring_size_;
  const TraceClock& clock_;
  const TraceClock::Anchor start_;
  mutable std::mutex mutex_;
  std::set<std::uint32_t> numbers_;
  std::vector<std::unique_ptr<Owned>> threads_;
};

}  // namespace hierbar::report

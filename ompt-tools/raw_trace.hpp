// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "ompt-tools/settings.hpp"
#include "ompt-tools/timeline.hpp"
#include "trace/trace_clock.hpp"

namespace hierbar::ompt {

// One barrier that a thread was in, or a task that it ran there, in ticks.
struct RawEvent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;       // 0: the runtime did not tell when the thread was released
  std::uint64_t done = 0;      // as in Record
  const void* team = nullptr;  // of a barrier; null: a task
  std::uint64_t episode = 0;   // of the team
  std::uint32_t me = 0;
  std::uint32_t kind = 0;
  const void* address = nullptr;
  bool has_levels = false;
  std::uint64_t gathered = 0;  // as in Phases
  bool is_leader = false;      // in the exchange
};

// The last events of one thread, in a memory of fixed size. The thread adds; others read when it no longer does.
class RawRing {
 public:
  explicit RawRing(std::size_t size) : events_(size) {}

  void add(const RawEvent& event) noexcept {
    events_[next_] = event;
    if (++next_ == events_.size()) next_ = 0;
    ++count_;
  }
  // The newest; null when there is none.
  RawEvent* last() noexcept { return count_ == 0 ? nullptr : &events_[next_ == 0 ? events_.size() - 1 : next_ - 1]; }
  std::uint64_t kept() const noexcept { return count_ < events_.size() ? count_ : events_.size(); }
  std::uint64_t dropped() const noexcept { return count_ - kept(); }
  // The oldest first.
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

// The rings of all threads. One is made at a thread's first region and kept for good, so that events cost no allocation.
class RawTrace {
 public:
  RawTrace(std::size_t ring_size, const TraceClock& clock);

  // The calling thread's ring; `number` is what people know it by, if no other thread has it yet.
  RawRing* add_thread(std::uint32_t number);

  std::uint64_t kept() const;
  std::uint64_t dropped() const;

  // All that was kept; no thread may add any more.
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

}  // namespace hierbar::ompt

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "barrier/trace_points.hpp"
#include "base/arch/counter.hpp"
#include "report/timeline.hpp"

namespace hierbar::mpi {

// The times at which one rank went through the steps of one barrier, in ticks. Ranks of one node
// have the same clock. They are sent as plain bytes.
struct Stamps {
  std::uint64_t arrived;   // it came to the barrier
  std::uint64_t gathered;  // all of its subtree had arrived; 0: it gathers from nobody
  std::uint64_t released;  // it saw that all had arrived
  std::uint64_t left;      // it had released its children

  // For a time line, without what the stamps do not know.
  report::RawEvent to_event() const {
    report::RawEvent event;
    event.begin = event.done = arrived;
    event.end = left;
    event.has_levels = true;
    event.gathered = gathered;
    return event;
  }
};

// The trace points of a recorded barrier (see barrier/trace_points.hpp). Writes each step's time.
class RankTrace : public NoTrace {
 public:
  RankTrace(Stamps& stamps, ClockSource clock) noexcept : stamps_(stamps), clock_(clock) {}
  void arrived() const noexcept { stamps_.arrived = read_clock(clock_); }
  void gathered() const noexcept { stamps_.gathered = read_clock(clock_); }
  void released() const noexcept { stamps_.released = read_clock(clock_); }
  void left() const noexcept { stamps_.left = read_clock(clock_); }

 private:
  Stamps& stamps_;
  const ClockSource clock_;
};

}  // namespace hierbar::mpi

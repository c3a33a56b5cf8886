// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "trace/counter.hpp"

namespace hierbar {

// The clock of a trace: its source, the length of a tick, its resolution and its cost.
class TraceClock {
 public:
  // Measures a clock in about 3 ms: the processor's counter if it has one rate everywhere and
  // always, else the system's clock.
  static TraceClock measure();
  // The system's clock, whose tick is 1 ns; for tests.
  static TraceClock system() { return TraceClock(ClockSource::kSystem, std::uint64_t{1} << kShift); }

  std::uint64_t now() const noexcept { return read_clock(source_); }
  std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>((static_cast<Wide>(ticks) * ns_per_tick_) >> kShift);
  }

  // A reading of this clock and one of CLOCK_MONOTONIC, taken at the same time.
  struct Anchor {
    std::uint64_t ticks;
    std::uint64_t ns;
  };
  Anchor anchor() const;

  ClockSource source() const { return source_; }
  std::string name() const;
  double ns_per_tick() const { return static_cast<double>(ns_per_tick_) / static_cast<double>(std::uint64_t{1} << kShift); }
  // The smallest difference ever seen between two unequal stamps.
  double resolution_ns() const { return resolution_ns_; }
  // What a stamp costs.
  double stamp_ns() const { return stamp_ns_; }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr int kShift = 32;

  TraceClock(ClockSource source, std::uint64_t ns_per_tick);
  void measure_stamps();

  ClockSource source_;
  std::uint64_t ns_per_tick_;  // fixed point with kShift bits of fraction
  double resolution_ns_ = 0;
  double stamp_ns_ = 0;
};

}  // namespace hierbar

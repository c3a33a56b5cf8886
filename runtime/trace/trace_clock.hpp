// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/arch/counter.hpp"

namespace hierbar {

// The clock of a trace: its source, the length of a tick, its resolution and its cost.
class TraceClock {
 public:
  // Measures a clock in about 3 ms: the processor's counter if it has one rate everywhere and
  // always, else the system's clock.
  static TraceClock measure();
  // The system's clock, whose tick is 1 ns; for tests.
  static TraceClock system() {
    return TraceClock(ClockSource::kSystem, std::uint64_t{1} << kShift);
  }

  std::uint64_t now() const noexcept { return read_clock(source_); }
  std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
    return scale_ticks(ticks, ns_per_tick_);
  }

  // A reading of this clock and one of CLOCK_MONOTONIC, taken at the same time.
  struct Anchor {
    std::uint64_t ticks;
    std::uint64_t ns;
  };
  Anchor anchor() const;

  ClockSource source() const { return source_; }
  std::string name() const;
  double ns_per_tick() const {
    return static_cast<double>(ns_per_tick_) / static_cast<double>(std::uint64_t{1} << kShift);
  }
  // The smallest difference ever seen between two unequal stamps.
  double resolution_ns() const { return resolution_ns_; }
  // What a stamp costs.
  double stamp_ns() const { return stamp_ns_; }

 private:
  static constexpr int kShift = 32;  // as scale_ticks() has it

  TraceClock(ClockSource source, std::uint64_t ns_per_tick);
  void measure_stamps();

  ClockSource source_;
  std::uint64_t ns_per_tick_;  // fixed point with kShift bits of fraction
  double resolution_ns_ = 0;
  double stamp_ns_ = 0;
};

// How far apart the clocks of two packages are. A stamp of one package may be subtracted from a
// stamp of another. The difference may then be wrong by this offset.
struct ClockOffset {
  // Packages on which this process may run; 0 if unknown.
  std::size_t num_packages = 0;
  // Of the package that is farthest from the first one, without sign.
  double offset_ns = 0;
  // By how much offset_ns may be wrong: half of the exchange's round trip.
  double error_ns = 0;
  // Why it was not measured. Empty if it was, or if there is only one package.
  std::string problem;
};

// Of each package, the first cpu that the calling thread may use, in the order of the packages'
// numbers. `sysfs` is the kernel's directory of cpus. Empty if the kernel does not say which cpu is
// in which package.
std::vector<int> first_cpus_of_packages(const std::string& sysfs = "/sys/devices/system/cpu");

// Exchanges stamps between two threads on these cpus, and keeps the quickest exchange. In an
// exchange the other thread's clock is read between two readings of the own clock. Takes 200
// exchanges, and 20 ms at most for each pair of packages. If a cpu is busy with something else for
// that long, `problem` says so.
ClockOffset measure_clock_offset(const TraceClock& clock, const std::vector<int>& cpus);

}  // namespace hierbar

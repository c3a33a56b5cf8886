// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "trace/trace_clock.hpp"

namespace hierbar {

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

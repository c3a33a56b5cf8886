// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "trace/trace_clock.hpp"

namespace hierbar {

// How far the clocks of two packages are apart. Stamps of threads in different packages are subtracted from each other, so this
// much of what comes out may be wrong.
struct ClockOffset {
  std::size_t num_packages = 0;  // on which this process may run; 0: not known
  double offset_ns = 0;          // of the package that is farthest from the first, without sign
  double error_ns = 0;           // and by how much that may be wrong: half of its way there and back
  std::string problem;           // why it was not measured; empty: it was, or there is but one package
};

// The first cpu that the calling thread may use of each package, in the order of their numbers. `sysfs` is where the kernel tells
// of cpus: /sys/devices/system/cpu. Empty when it does not.
std::vector<int> first_cpus_of_packages(const std::string& sysfs = "/sys/devices/system/cpu");

// Sends stamps there and back between two threads on these cpus and keeps the quickest exchange: the other's clock was read
// between two readings of one's own. Some 200 exchanges, 20 ms at most; a cpu that is busy with other things for so long is a
// `problem`.
ClockOffset measure_clock_offset(const TraceClock& clock, const std::vector<int>& cpus);

}  // namespace hierbar

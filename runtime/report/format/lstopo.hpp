// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "topology/cpu_set.hpp"

namespace hierbar::report {

// The time that barriers took between threads on these cpus, for all sites of a report together.
struct HeatSpot {
  CpuSet cpus;
  std::string what;  // "gather", "exchange", "release"; "barrier" if no site has levels
  std::uint64_t sum_ns = 0;
  std::uint64_t count = 0;
};

// The spots of a report. If some sites have levels, sites without levels, such as the ends of
// regions, are left out: they would hide what the levels cost. All groups of a level get the
// level's times, because it is not recorded which group was on the critical path. A group is left
// out if the cpus of one of its threads are not known.
std::vector<HeatSpot> find_heat(const Report& report);

// Writes the machine for `lstopo --input FILE`, coloured by the time that barriers took in each
// part of it. On failure, writes a line to the standard error and returns false. libhierbar.so does
// the work. It is beside this library, and is loaded only by this function.
bool write_lstopo(const std::string& name, const Report& report);

}  // namespace hierbar::report

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ompt-tools/report.hpp"
#include "topology/cpu_set.hpp"

namespace hierbar::ompt {

// What barriers took between threads on these cpus: all sites of a report together.
struct HeatSpot {
  CpuSet cpus;
  std::string what;  // "gather", "exchange", "release"; "barrier" when no site's levels are known
  std::uint64_t sum_ns = 0;
  std::uint64_t count = 0;
};

// Where levels are known, sites without them, such as the ends of regions, are left out: they would hide what the levels cost.
// A level's times are those of each of its groups, since which group was on the critical path is not kept. Groups of which a
// thread's cpus are not known are left out.
std::vector<HeatSpot> find_heat(const Report& report);

}  // namespace hierbar::ompt

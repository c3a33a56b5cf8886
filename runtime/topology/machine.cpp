// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/machine.hpp"

#include <algorithm>

namespace hierbar {

int Machine::smallest_unit_containing(const CpuSet& cpus) const {
  const CpuSet here = cpus & present;
  if (here.empty()) return -1;
  int unit = 0;
  while (true) {
    const std::vector<int>& children = units[unit].children;
    const auto child =
        std::find_if(children.begin(), children.end(), [&](int index) { return here.is_subset_of(units[index].cpus); });
    if (child == children.end()) return unit;
    unit = *child;
  }
}

CpuSet Machine::one_cpu_per_core(const CpuSet& among) const {
  CpuSet chosen;
  for (const Unit& unit : units) {
    if (!unit.has(Level::kCore)) continue;
    if (const int cpu = (unit.cpus & among).first(); cpu >= 0) chosen.set(static_cast<std::uint32_t>(cpu));
  }
  return chosen;
}

}  // namespace hierbar

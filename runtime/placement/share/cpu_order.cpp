// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/cpu_order.hpp"

namespace hierbar {

std::vector<CpuSet> cores_of(const Machine& machine, const CpuSet& cpus) {
  std::vector<CpuSet> cores;
  for (const Unit& unit : machine.units) {
    if (const CpuSet core = unit.cpus & cpus; unit.children.empty() && !core.empty()) cores.push_back(core);
  }
  return cores;
}

std::vector<CpuSet> cpus_core_first(std::vector<CpuSet> cores) {
  std::vector<CpuSet> cpus;
  for (bool any = true; any;) {
    any = false;
    for (CpuSet& core : cores) {
      if (core.empty()) continue;
      const auto cpu = static_cast<std::uint32_t>(core.first());
      cpus.push_back(CpuSet::range(cpu, cpu));
      core.reset(cpu);
      any = true;
    }
  }
  return cpus;
}

std::vector<CpuSet> cpus_core_by_core(const std::vector<CpuSet>& cores) {
  std::vector<CpuSet> cpus;
  for (const CpuSet& core : cores) {
    for (const std::uint32_t cpu : core) cpus.push_back(CpuSet::range(cpu, cpu));
  }
  return cpus;
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/locality.hpp"

namespace hierbar {

int LocalityPath::unit_at_depth(int depth) const {
  const int deepest = static_cast<int>(units.size()) - 1;
  return depth <= deepest ? units[deepest - depth] : -1;
}

LocalityPath locate(const Machine& machine, const CpuSet& binding) {
  LocalityPath path;
  const int smallest = machine.smallest_unit_containing(binding);
  if (smallest < 0) return path;
  path.bound = true;
  path.units.clear();
  for (int unit = smallest; unit >= 0; unit = machine.units[unit].parent) path.units.push_back(unit);
  return path;
}

std::vector<LocalityPath> locate_all(const Machine& machine, const std::vector<CpuSet>& bindings) {
  std::vector<LocalityPath> paths;
  paths.reserve(bindings.size());
  for (const CpuSet& binding : bindings) paths.push_back(locate(machine, binding));
  return paths;
}

int enclosing_unit(const Machine& machine, const LocalityPath& path, Level level) {
  for (const int unit : path.units) {
    if (machine.units[unit].has(level)) return unit;
  }
  return -1;
}

int shared_depth(const Machine& machine, int unit_a, int unit_b) {
  const auto unit = [&machine](int index) -> const Unit& { return machine.units[index]; };
  while (unit_a != unit_b) {
    int& deeper = unit(unit_a).depth >= unit(unit_b).depth ? unit_a : unit_b;
    deeper = unit(deeper).parent;
  }
  return unit(unit_a).depth;
}

}  // namespace hierbar

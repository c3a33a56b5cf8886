// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// Where a participant may run, as units of the machine. The first is the smallest unit that
// contains its whole binding; then come the units around it, up to the machine (unit 0). A
// participant that is unbound has only the machine.
struct LocalityPath {
  std::vector<int> units{0};
  bool bound = false;  // false: no cpus were given, or none of this machine

  int smallest() const { return units.front(); }
  // False: no unit smaller than the machine is known to hold the participant, so the topology says
  // nothing about it.
  bool resolved() const { return units.size() > 1; }
  // The unit at this depth of the tree (0: the machine), or -1 if the path ends above it.
  int unit_at_depth(int depth) const;
};

// Locates one binding. An empty set means unbound. O(depth of the machine's tree x cpus).
LocalityPath locate(const Machine& machine, const CpuSet& binding);
std::vector<LocalityPath> locate_all(const Machine& machine, const std::vector<CpuSet>& bindings);

// The smallest unit of the path that has the level, or -1.
int enclosing_unit(const Machine& machine, const LocalityPath& path, Level level);

// Whether two or more cores share the unit: the leaves of the tree are the cores, and no two units
// have the same cpus.
inline bool is_shared_by_cores(const Unit& unit) { return !unit.children.empty(); }

// The depth of the smallest unit that contains both units.
int shared_depth(const Machine& machine, int unit_a, int unit_b);
}  // namespace hierbar

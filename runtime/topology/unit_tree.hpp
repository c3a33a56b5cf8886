// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// Cpus that share something, as the description of a machine lists them.
struct SharedSet {
  CpuSet cpus;
  std::uint32_t labels = 0;  // bit (1 << Level); 0: a group with unknown meaning
};

// What the description of a machine says about who shares what.
struct SharedSets {
  CpuSet present;                 // online cpus, never empty
  std::vector<SharedSet> nested;  // in any order; any two are disjoint or nested or equal
  // The cpus near the memory of each NUMA node. They may be empty, equal, nested in any way, or
  // overlap in part.
  std::vector<CpuSet> numa;
};

// Makes Machine::units:
//
//   1. Equal sets are one unit with several labels. Sets inside a core, or without a present cpu,
//      are left out.
//   2. A cpu that is in no core is a core of its own.
//   3. A NUMA set is a label of the unit with the same cpus, or becomes a unit. A set that overlaps
//      another unit in part is left out, with a warning.
//   4. The tree: parents come before children, children are ordered by first cpu.
//   5. A group of cores inside an L3 without a name is taken for a cluster, because synthetic
//      descriptions have no name for one.
//   6. Each label occurs at most once on the path from the machine to a core. Of nested units with
//      the same label, the inner ones keep it if together they are all of the outer one, else the
//      outer one keeps it. So as many cpus as possible have a unit of that label.
std::vector<Unit> build_unit_tree(const SharedSets& sets, std::vector<std::string>& warnings);

}  // namespace hierbar

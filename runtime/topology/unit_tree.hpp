// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// Cpus that share something, as a machine's description lists it.
struct SharedSet {
  CpuSet cpus;
  std::uint32_t labels = 0;  // bit (1 << Level); 0: a group whose meaning is not known
};

// What a machine's description says about who shares what.
struct SharedSets {
  CpuSet present;                 // online cpus, never empty
  std::vector<SharedSet> nested;  // any two are disjoint, equal, or one contains the other; in any order
  std::vector<CpuSet> numa;       // the cpus near each NUMA node's memory; may be empty, equal, nested in any way, or crossing
};

// Makes Machine::units:
//
//   1. Equal sets are one unit with several labels. What lies inside a core, or holds no present cpu, is dropped.
//   2. A cpu of no core is a core of its own.
//   3. A NUMA set labels the unit of the same cpus, or becomes one. A set that crosses another unit is dropped, with a warning.
//   4. The tree: parents before children, children by first cpu.
//   5. A nameless group of cores inside an L3 is taken for a cluster, because synthetic descriptions have no name for one.
//   6. Each label at most once on the way from the machine to a core. Of nested units with one label the inner ones keep it if
//      they cover the outer one, else the outer one does, so that as many cpus as possible have a unit of that label.
std::vector<Unit> build_unit_tree(const SharedSets& sets, std::vector<std::string>& warnings);

}  // namespace hierbar

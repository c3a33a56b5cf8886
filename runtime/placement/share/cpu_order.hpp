// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// Orders in which cpus are given out. Cores are those of the machine, reduced to the given cpus.

// The cores in the order of the tree.
std::vector<CpuSet> cores_of(const Machine& machine, const CpuSet& cpus);

// The cpus one by one: the first cpu of every core, then the second of every core, and so on.
std::vector<CpuSet> cpus_core_first(std::vector<CpuSet> cores);

// The cpus one by one: all cpus of a core before those of the next core.
std::vector<CpuSet> cpus_core_by_core(const std::vector<CpuSet>& cores);

}  // namespace hierbar

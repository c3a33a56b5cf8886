// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// The orders in which cpus are given out. Cores are those of the machine, cut down to the cpus asked about.

// In the order of the tree.
std::vector<CpuSet> cores_of(const Machine& machine, const CpuSet& cpus);

// Cpus one by one: the first of every core, then the second of every core, and so on.
std::vector<CpuSet> cpus_core_first(std::vector<CpuSet> cores);

// Cpus one by one, all of a core before the next core.
std::vector<CpuSet> cpus_core_by_core(const std::vector<CpuSet>& cores);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// Shares out `pool` among ranks that will run threads[i] threads each; no number is 0. The shares are disjoint, one per rank in
// the order of the ranks, and consecutive in the order of the tree:
//
//   1. Whole cores, as long as there is one for every rank; else single cpus. The last rank's share ends where the pool ends.
//   2. Where the pool has a core (cpu) for every thread, each rank gets at least as many as it has threads. Where it has fewer,
//      at least its proportional part, rounded down, and one.
//   3. Within that, cuts fall between packages if they can, then between NUMA nodes, then between L3 caches, but no share becomes
//      smaller than three quarters of its proportional part for it.
//   4. Among equals, those nearest to proportional parts.
//
// Errors: fewer cpus than ranks; an empty pool. Cpus of the pool that the machine does not have are left out.
Result<std::vector<CpuSet>> share_out(const Machine& machine, const CpuSet& pool, const std::vector<std::uint32_t>& threads);

// How many units with the label hold a cpu of `share`; 0 when the machine has no such level.
std::uint32_t count_touched(const Machine& machine, const CpuSet& share, Level level);

}  // namespace hierbar

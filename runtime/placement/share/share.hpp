// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "topology/cpu_set.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Shares out `pool` among ranks. Rank i will run threads[i] threads, at least one. The shares are
// disjoint, one for each rank in the order of the ranks, and consecutive in the order of the tree:
//
// 1. A share consists of whole cores if there is a core for every rank, otherwise of single cpus.
//    The last rank's share ends where the pool ends.
// 2. Between packages: as many cuts as can be are there. If the pool has a core (cpu) for every
//    thread, each rank gets at least as many as it has threads, and no share gets smaller than
//    three quarters of its proportional part. If the pool has fewer, each rank gets at least its
//    proportional part, rounded down, and at least one. Among equally good cuts it takes those that
//    are nearest to proportional parts.
// 3. Between two such cuts, if all ranks there have as many threads, their shares differ by one
//    core (cpu) at most. If not, the limits are those of 2.
// 4. Within these limits cuts fall between NUMA nodes if they can, then between L3 caches.
//
// Errors: fewer cpus than ranks; an empty pool. Cpus of the pool that the machine does not have are
// left out.
Result<std::vector<CpuSet>> share_out(const Machine& machine, const CpuSet& pool,
                                      const std::vector<std::uint32_t>& threads);

// How many units of the level have a cpu of `share`; 0 if the machine has no such level.
std::uint32_t count_touched(const Machine& machine, const CpuSet& share, Level level);

// Decides which rank gets which of the shares that share_out() has made. shares[i] was cut for a
// rank of threads[i] threads. homes[i] is what rank i was given at launch.
//
// As many ranks as possible keep a cpu of their home, because the memory to which they have written
// already is near it. The shares themselves do not change, so no share becomes worse. Ranks swap
// only with ranks of as many threads. Where it makes no difference, ranks keep their order
// (docs/design/placement.md#d0048).
//
// The three vectors have the same length. Returns the share of each rank.
std::vector<CpuSet> assign_shares(const std::vector<CpuSet>& shares,
                                  const std::vector<std::uint32_t>& threads,
                                  const std::vector<CpuSet>& homes);

}  // namespace hierbar

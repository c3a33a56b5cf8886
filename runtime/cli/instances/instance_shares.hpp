// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "placement/evidence/cpu_pool.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// What one of several copies of a program gets of this node.
struct InstanceShare {
  CpuSet cpus;
  std::uint32_t num_threads = 1;
};

struct InstanceShares {
  std::vector<InstanceShare> shares;  // by instance
  // No cpu is in two shares.
  bool are_disjoint = true;
  // Threads or instances that get in each other's way, one line each.
  std::vector<std::string> warnings;

  // The cpus of the smallest share.
  std::uint32_t fewest_cpus() const;
};

// The cpus that instances started by this process share out: all that it may use itself, so those
// that taskset, a launcher or a control group has left it and that are online. `mask` is what it
// may use. A quota of cpu time or a batch system's number lowers the capacity. Errors: the machine
// has none of the cpus.
Result<CpuPool> instance_pool(const Machine& machine, const CpuSet& mask,
                              const PoolEvidence& evidence);

// Shares out `pool` among instances as among the ranks of a node with threads=share
// (docs/design/run.md#d0200). `num_threads` is the number of each, 0: one for each core of its
// share, or fewer if the pool's capacity is less than its cpus.
//
// With at least a cpu for each instance these are the shares of share_out(), which are disjoint. If
// there are more instances than cpus, each gets one core, and neighbours have the same one.
// Requires a pool that is not empty, and an instance.
InstanceShares share_among_instances(const Machine& machine, const CpuPool& pool,
                                     std::uint32_t num_instances, std::uint32_t num_threads);

}  // namespace hierbar

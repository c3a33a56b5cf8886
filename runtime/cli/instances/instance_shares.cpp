// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/instances/instance_shares.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "placement/decision/decide.hpp"
#include "placement/share/places.hpp"
#include "placement/share/share.hpp"

namespace hierbar {
namespace {

std::vector<CpuSet> cut_pool(const Machine& machine, const CpuPool& pool,
                             const std::vector<std::uint32_t>& threads) {
  if (Result<std::vector<CpuSet>> shares = share_out(machine, pool.cpus, threads))
    return *std::move(shares);
  // More instances than cpus. Whole cores let the kernel even out the instances of one.
  const std::vector<CpuSet> cores = cores_of(machine, pool.cpus);
  std::vector<CpuSet> shares;
  for (std::size_t i = 0; i < threads.size(); ++i)
    shares.push_back(cores[i * cores.size() / threads.size()]);
  return shares;
}

std::vector<std::string> warnings_of(const Machine& machine, const CpuPool& pool,
                                     const InstanceShares& instances) {
  const std::uint32_t num_cores = machine.one_cpu_per_core(pool.cpus).count();
  const std::uint64_t num_threads = std::accumulate(
      instances.shares.begin(), instances.shares.end(), std::uint64_t{0},
      [](std::uint64_t sum, const InstanceShare& share) { return sum + share.num_threads; });
  if (instances.shares.size() > num_cores) {
    return {std::to_string(instances.shares.size()) + " instances share " +
            plural(num_cores, "core") + ": " + pool.why};
  }
  if (num_threads > num_cores)
    return {std::to_string(num_threads) + " threads share " + plural(num_cores, "core") + ": " +
            pool.why};
  if (num_threads > pool.capacity)
    return {std::to_string(num_threads) + " threads share the time of " +
            plural(pool.capacity, "cpu") + ": " + pool.why};
  return {};
}

}  // namespace

std::uint32_t InstanceShares::fewest_cpus() const {
  return std::min_element(shares.begin(), shares.end(),
                          [](const InstanceShare& one, const InstanceShare& other) {
                            return one.cpus.count() < other.cpus.count();
                          })
      ->cpus.count();
}

Result<CpuPool> instance_pool(const Machine& machine, const CpuSet& mask,
                              const PoolEvidence& evidence) {
  CpuPool pool;
  pool.cpus = mask & machine.present;
  pool.source = PoolChoice::kUnion;
  if (pool.cpus.empty())
    return Error{"the machine that hwloc reads has none of the cpus " + mask.to_string()};
  pool.capacity = pool.cpus.count();
  pool.why = plural(pool.capacity, "cpu") + " (" + pool.cpus.to_string() + ")";
  for (const auto& limit : {evidence.scheduled, evidence.quota}) {
    if (!limit || limit->num_cpus >= pool.capacity) continue;
    pool.capacity = limit->num_cpus;
    pool.why += ", " + limit->source + " leaves " + plural(limit->num_cpus, "cpu");
  }
  return pool;
}

InstanceShares share_among_instances(const Machine& machine, const CpuPool& pool,
                                     std::uint32_t num_instances, std::uint32_t num_threads) {
  const std::vector<RankNeed> needs = settled_needs(
      pool, std::vector<RankNeed>(num_instances, {.mask = pool.cpus, .num_threads = num_threads}));
  const std::vector<std::uint32_t> threads(num_instances, needs.front().num_threads);
  const bool is_limited = pool.capacity < pool.cpus.count();
  InstanceShares instances;
  instances.are_disjoint = num_instances <= pool.cpus.count();
  for (CpuSet& cpus : cut_pool(machine, pool, threads)) {
    const std::uint32_t num_cores = machine.one_cpu_per_core(cpus).count();
    const std::uint32_t fitting = is_limited ? std::min(num_cores, threads.front()) : num_cores;
    instances.shares.push_back({std::move(cpus), num_threads == 0 ? fitting : num_threads});
  }
  instances.warnings = warnings_of(machine, pool, instances);
  return instances;
}

}  // namespace hierbar

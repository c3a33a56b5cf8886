// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/trial/hybrid.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace hierbar::bench::model {
namespace {

// The engine among those that are bound to these cpus.
Result<Costs> engine_costs(const ModelMachine& machine, const std::vector<CpuSet>& bindings, std::uint64_t seed,
                           const Episodes& episodes) {
  Result<Scenario> scenario = Scenario::make(machine.machine, bindings);
  if (!scenario) return Error{scenario.error()};
  return cost_of(*scenario, Algorithm::kHier, scenario->engine_plan(), machine.sets, seed, episodes);
}

void keep_the_slower(std::vector<double>& slowest, const std::vector<double>& other) {
  slowest.resize(other.size());
  std::transform(slowest.begin(), slowest.end(), other.begin(), slowest.begin(),
                 [](double a, double b) { return std::max(a, b); });
}

}  // namespace

std::vector<double> sequence(const HybridRow& row, std::vector<double> Costs::* figures) {
  std::vector<double> sums = row.ranks.*figures;
  for (std::size_t set = 0; set < sums.size(); ++set) sums[set] += 2 * (row.threads.*figures)[set];
  return sums;
}

Result<HybridRow> compare_hybrid(const ModelMachine& machine, Mapping mapping, std::uint32_t num_participants,
                                 std::uint32_t num_ranks, std::uint64_t seed, const Episodes& episodes) {
  if (num_ranks < 2 || num_participants % num_ranks != 0 || num_participants / num_ranks < 2) {
    return Error{std::to_string(num_ranks) + " ranks do not divide " + std::to_string(num_participants) +
                 " participants into equal teams of 2 or more"};
  }
  const Result<std::vector<CpuSet>> all = map_participants(machine.machine, mapping, num_participants);
  if (!all) return Error{all.error()};
  HybridRow row{num_ranks, num_participants / num_ranks, {}, {}, {}};
  std::vector<CpuSet> leaders;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    const auto first = all->begin() + static_cast<std::ptrdiff_t>(rank * row.num_threads);
    leaders.push_back(*first);
    const Result<Costs> own = engine_costs(machine, {first, first + row.num_threads}, seed, episodes);
    if (!own) return Error{own.error()};
    keep_the_slower(row.threads.period, own->period);
    keep_the_slower(row.threads.isolated, own->isolated);
  }
  Result<Costs> one = engine_costs(machine, *all, seed, episodes);
  if (!one) return Error{one.error()};
  Result<Costs> ranks = engine_costs(machine, leaders, seed, episodes);
  if (!ranks) return Error{ranks.error()};
  row.one = *std::move(one);
  row.ranks = *std::move(ranks);
  return row;
}

}  // namespace hierbar::bench::model

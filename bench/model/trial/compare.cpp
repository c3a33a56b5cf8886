// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/trial/compare.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bench/common/statistics.hpp"
#include "topology/machine.hpp"

namespace hierbar::bench::model {

Range range_of(const std::vector<double>& values) {
  const auto summary = summarize(values);
  return summary ? Range{summary->median, summary->minimum, summary->maximum} : Range{};
}

Range ratio_range(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return range_of(ratios);
}

Result<Costs> cost_of(Scenario& scenario, Algorithm algorithm, const EnginePlan& plan,
                      const std::vector<ParameterSet>& sets, std::uint64_t seed,
                      const Episodes& episodes) {
  Trial trial = scenario.trial(algorithm, plan);
  Costs costs;
  for (const ParameterSet& set : sets) {
    for (const Metric metric : {Metric::kPeriod, Metric::kIsolated}) {
      const Result<double> ns =
          trial.run(scenario.simulator(), set.parameters, metric, seed, episodes);
      if (!ns) return Error{ns.error()};
      (metric == Metric::kPeriod ? costs.period : costs.isolated).push_back(*ns);
    }
  }
  return costs;
}

Result<std::vector<ComparedRow>> compare_algorithms(const ModelMachine& machine, Mapping mapping,
                                                    std::uint32_t num_participants,
                                                    std::uint64_t seed, const Episodes& episodes) {
  Result<Scenario> scenario = Scenario::make(machine.machine, mapping, num_participants);
  if (!scenario) return Error{scenario.error()};
  std::vector<ComparedRow> rows;
  for (const NamedAlgorithm& named : kAlgorithms) {
    EnginePlan plan = scenario->engine_plan();
    if (named.algorithm == Algorithm::kTopo) {
      Result<EnginePlan> groups = scenario->group_plan(active_levels(machine.machine));
      if (!groups) continue;
      plan = *std::move(groups);
    }
    Result<Costs> costs = cost_of(*scenario, named.algorithm, plan, machine.sets, seed, episodes);
    if (!costs) return Error{costs.error()};
    rows.push_back({std::string(named.name), named.algorithm, num_participants, *std::move(costs)});
  }
  return rows;
}

const ComparedRow* find_row(const std::vector<ComparedRow>& rows, Algorithm algorithm) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const ComparedRow& row) { return row.algorithm == algorithm; });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<double> gains_over_classic(const std::vector<ComparedRow>& rows,
                                       std::vector<double> Costs::* figures) {
  const std::vector<double>& engine = find_row(rows, Algorithm::kHier)->costs.*figures;
  std::vector<double> fastest(engine.size(), std::numeric_limits<double>::infinity());
  for (const ComparedRow& row : rows) {
    if (row.algorithm == Algorithm::kHier || row.algorithm == Algorithm::kTopo) continue;
    for (std::size_t set = 0; set < fastest.size(); ++set)
      fastest[set] = std::min(fastest[set], (row.costs.*figures)[set]);
  }
  for (std::size_t set = 0; set < fastest.size(); ++set) fastest[set] /= engine[set];
  return fastest;
}

nlohmann::ordered_json to_json(const Range& range) {
  return {{"median_ns", range.median}, {"least_ns", range.least}, {"most_ns", range.most}};
}

nlohmann::ordered_json to_json(const ComparedRow& row) {
  return {{"name", row.name},
          {"participants", row.num_participants},
          {"period", to_json(range_of(row.costs.period))},
          {"isolated", to_json(range_of(row.costs.isolated))}};
}

namespace {

// The engine among those that are bound to these cpus.
Result<Costs> engine_costs(const ModelMachine& machine, const std::vector<CpuSet>& bindings,
                           std::uint64_t seed, const Episodes& episodes) {
  Result<Scenario> scenario = Scenario::make(machine.machine, bindings);
  if (!scenario) return Error{scenario.error()};
  return cost_of(*scenario, Algorithm::kHier, scenario->engine_plan(), machine.sets, seed,
                 episodes);
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

Result<HybridRow> compare_hybrid(const ModelMachine& machine, Mapping mapping,
                                 std::uint32_t num_participants, std::uint32_t num_ranks,
                                 std::uint64_t seed, const Episodes& episodes) {
  if (num_ranks < 2 || num_participants % num_ranks != 0 || num_participants / num_ranks < 2) {
    return Error{std::to_string(num_ranks) + " ranks do not divide " +
                 std::to_string(num_participants) + " participants into equal teams of 2 or more"};
  }
  const Result<std::vector<CpuSet>> all =
      map_participants(machine.machine, mapping, num_participants);
  if (!all) return Error{all.error()};
  HybridRow row{num_ranks, num_participants / num_ranks, {}, {}, {}};
  std::vector<CpuSet> leaders;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    const auto first = all->begin() + static_cast<std::ptrdiff_t>(rank * row.num_threads);
    leaders.push_back(*first);
    const Result<Costs> own =
        engine_costs(machine, {first, first + row.num_threads}, seed, episodes);
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

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/trial/compare.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/common/statistics.hpp"
#include "topology/levels.hpp"

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

Result<Costs> cost_of(Scenario& scenario, Algorithm algorithm, const EnginePlan& plan, const std::vector<ParameterSet>& sets,
                      std::uint64_t seed, const Episodes& episodes) {
  Trial trial = scenario.trial(algorithm, plan);
  Costs costs;
  for (const ParameterSet& set : sets) {
    for (const Metric metric : {Metric::kPeriod, Metric::kIsolated}) {
      const Result<double> ns = trial.run(scenario.simulator(), set.parameters, metric, seed, episodes);
      if (!ns) return Error{ns.error()};
      (metric == Metric::kPeriod ? costs.period : costs.isolated).push_back(*ns);
    }
  }
  return costs;
}

Result<std::vector<ComparedRow>> compare_algorithms(const ModelMachine& machine, Mapping mapping, std::uint32_t num_participants,
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
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ComparedRow& row) { return row.algorithm == algorithm; });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<double> gains_over_classic(const std::vector<ComparedRow>& rows, std::vector<double> Costs::* figures) {
  const std::vector<double>& engine = find_row(rows, Algorithm::kHier)->costs.*figures;
  std::vector<double> fastest(engine.size(), std::numeric_limits<double>::infinity());
  for (const ComparedRow& row : rows) {
    if (row.algorithm == Algorithm::kHier || row.algorithm == Algorithm::kTopo) continue;
    for (std::size_t set = 0; set < fastest.size(); ++set) fastest[set] = std::min(fastest[set], (row.costs.*figures)[set]);
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

}  // namespace hierbar::bench::model

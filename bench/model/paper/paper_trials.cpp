// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/paper/paper_trials.hpp"

#include <utility>

namespace hierbar::bench::model {

Result<PaperTrials> PaperTrials::make(const Machine& machine, const std::vector<Cell>& cells) {
  PaperTrials result;
  result.cells_ = cells;
  for (const Cell& cell : cells) {
    if (!result.scenarios_.contains(cell.column)) {
      const auto [mapping, num_participants] = setting_of(cell.column);
      Result<Scenario> scenario = Scenario::make(machine, mapping, num_participants);
      if (!scenario) return Error{scenario.error()};
      result.scenarios_.emplace(cell.column, *std::move(scenario));
    }
    const Scenario& scenario = result.scenarios_.at(cell.column);
    const PaperRow& row = paper_rows()[cell.row];
    Result<EnginePlan> plan = is_topo(cell) ? scenario.group_plan(row.levels) : scenario.engine_plan();
    if (!plan) return Error{std::string(row.name) + ": " + plan.error()};
    result.trials_.push_back(scenario.trial(row.algorithm, *std::move(plan)));
  }
  return result;
}

Result<double> PaperTrials::run(std::size_t index, const Parameters& parameters, std::uint64_t seed, const Episodes& episodes) {
  Simulator& simulator = scenarios_.at(cells_[index].column).simulator();
  const Result<double> ns = trials_[index].run(simulator, parameters, Metric::kPeriod, seed, episodes);
  if (!ns) return Error{ns.error()};
  return *ns / 1000;
}

Result<std::vector<double>> PaperTrials::run_all(const Parameters& parameters, std::uint64_t seed, const Episodes& episodes) {
  std::vector<double> result;
  for (std::size_t i = 0; i < size(); ++i) {
    const Result<double> us = run(i, parameters, seed, episodes);
    if (!us) return Error{us.error()};
    result.push_back(*us);
  }
  return result;
}

}  // namespace hierbar::bench::model

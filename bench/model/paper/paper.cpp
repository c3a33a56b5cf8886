// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/paper/paper.hpp"

#include <utility>

namespace hierbar::bench::model {

std::span<const PaperRow> paper_rows() {
  static const PaperRow kRows[] = {
      {"sense-reversing", Algorithm::kSenseReversing, {}, {20.19, 50.35, 45.55, 52.80}},
      {"sense-reversing-counter", Algorithm::kSenseReversingCounter, {}, {3.45, 4.41, 5.10, 4.64}},
      {"sense-reversing-gr", Algorithm::kSenseReversingGr, {}, {3.31, 6.80, 7.18, 6.98}},
      {"combining-tree", Algorithm::kCombiningTree, {}, {1.87, 3.09, 3.92, 3.63}},
      {"mcs", Algorithm::kMcs, {}, {2.90, 3.31, 5.47, 4.90}},
      {"tournament", Algorithm::kTournamentTree, {}, {2.61, 3.83, 3.59, 7.38}},
      {"dissemination", Algorithm::kDissemination, {}, {3.18, 4.37, 3.45, 3.85}},
      {"topo-NUMA-SOCKET",
       Algorithm::kTopo,
       {Level::kNuma, Level::kPackage},
       {0, 3.25, 2.86, 3.16}},
      {"topo-NUMA", Algorithm::kTopo, {Level::kNuma}, {0, 2.98, 2.68, 3.03}},
      {"topo-SOCKET", Algorithm::kTopo, {Level::kPackage}, {0, 3.69, 3.34, 3.16}},
  };
  return kRows;
}

std::vector<Cell> paper_cells() {
  std::vector<Cell> cells;
  for (std::size_t row = 0; row < paper_rows().size(); ++row) {
    for (std::size_t column = 0; column < kNumColumns; ++column) {
      if (paper_rows()[row].us[column] != 0)
        cells.push_back(Cell{row, static_cast<Column>(column)});
    }
  }
  return cells;
}

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
    Result<EnginePlan> plan =
        is_topo(cell) ? scenario.group_plan(row.levels) : scenario.engine_plan();
    if (!plan) return Error{std::string(row.name) + ": " + plan.error()};
    result.trials_.push_back(scenario.trial(row.algorithm, *std::move(plan)));
  }
  return result;
}

Result<double> PaperTrials::run(std::size_t index, const Parameters& parameters, std::uint64_t seed,
                                const Episodes& episodes) {
  Simulator& simulator = scenarios_.at(cells_[index].column).simulator();
  const Result<double> ns =
      trials_[index].run(simulator, parameters, Metric::kPeriod, seed, episodes);
  if (!ns) return Error{ns.error()};
  return *ns / 1000;
}

Result<std::vector<double>> PaperTrials::run_all(const Parameters& parameters, std::uint64_t seed,
                                                 const Episodes& episodes) {
  std::vector<double> result;
  for (std::size_t i = 0; i < size(); ++i) {
    const Result<double> us = run(i, parameters, seed, episodes);
    if (!us) return Error{us.error()};
    result.push_back(*us);
  }
  return result;
}

}  // namespace hierbar::bench::model

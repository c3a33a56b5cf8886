// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/region/compare_regions.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace hierbar::bench::model {

Result<std::vector<RegionRow>> compare_regions(const ModelMachine& machine, Mapping mapping, std::uint32_t num_threads,
                                               std::uint64_t seed, const RegionOptions& options, const Episodes& episodes) {
  Result<Scenario> scenario = Scenario::make(machine.machine, mapping, num_threads);
  if (!scenario) return Error{scenario.error()};
  RegionTrial trial(*scenario, scenario->engine_plan(), options);
  std::vector<RegionRow> rows;
  for (const NamedRegionShape& named : kRegionShapes) {
    RegionCosts costs;
    for (const ParameterSet& set : machine.sets) {
      const Result<RegionTimes> times = trial.run(named.shape, set.parameters, seed, episodes);
      if (!times) return Error{times.error()};
      costs.period.push_back(times->period);
      costs.isolated.push_back(times->isolated);
      costs.fork.push_back(times->fork);
      costs.join.push_back(times->isolated - times->fork);
    }
    rows.push_back({named, std::move(costs)});
  }
  return rows;
}

const RegionRow& find_row(const std::vector<RegionRow>& rows, RegionShape shape) {
  return *std::find_if(rows.begin(), rows.end(), [&](const RegionRow& row) { return row.named.shape == shape; });
}

std::vector<double> ratios_to_stock(const std::vector<RegionRow>& rows, RegionShape shape,
                                    std::vector<double> RegionCosts::* figures) {
  std::vector<double> ratios = find_row(rows, shape).costs.*figures;
  for (std::size_t set = 0; set < ratios.size(); ++set) {
    double best = std::numeric_limits<double>::infinity();
    for (const RegionRow& row : rows) {
      if (row.named.is_stock) best = std::min(best, (row.costs.*figures)[set]);
    }
    ratios[set] /= best;
  }
  return ratios;
}

}  // namespace hierbar::bench::model

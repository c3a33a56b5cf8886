// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "bench/model/region/region_trial.hpp"
#include "bench/model/trial/compare.hpp"

namespace hierbar::bench::model {

// One shape's regions in every parameter set, in ns.
struct RegionCosts {
  std::vector<double> period;
  std::vector<double> isolated;
  std::vector<double> fork;  // of isolated
  std::vector<double> join;  // the rest of it
};
struct RegionRow {
  NamedRegionShape named;
  RegionCosts costs;
};

// All shapes, in the order of kRegionShapes. Errors: those of Scenario::make(), and how a region
// failed.
Result<std::vector<RegionRow>> compare_regions(const ModelMachine& machine, Mapping mapping, std::uint32_t num_threads,
                                               std::uint64_t seed, const RegionOptions& options = {},
                                               const Episodes& episodes = {});

const RegionRow& find_row(const std::vector<RegionRow>& rows, RegionShape shape);

// For each parameter set: a shape's figure as a part of that of the best of libomp's patterns, which
// need not be the same one in all sets.
std::vector<double> ratios_to_stock(const std::vector<RegionRow>& rows, RegionShape shape,
                                    std::vector<double> RegionCosts::* figures);

}  // namespace hierbar::bench::model

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/machine_file.hpp"
#include "model/scenario.hpp"

namespace hierbar::bench::model {

// One figure over the ensemble of parameter sets, ns.
struct Range {
  double median = 0;
  double least = 0;
  double most = 0;
};
Range range_of(const std::vector<double>& values);

// What one barrier costs in every parameter set, ns.
struct Costs {
  std::vector<double> period;
  std::vector<double> isolated;
};
Result<Costs> cost_of(Scenario& scenario, Algorithm algorithm, const EnginePlan& plan, const std::vector<ParameterSet>& sets,
                      std::uint64_t seed, const Episodes& episodes = {});

// One algorithm on one scenario.
struct ComparedRow {
  std::string name;
  Algorithm algorithm = Algorithm::kHier;
  std::uint32_t num_participants = 0;
  Costs costs;
};

// All algorithms; `topo` with the machine's active levels, left out where it steps aside.
Result<std::vector<ComparedRow>> compare_algorithms(const ModelMachine& machine, Mapping mapping, std::uint32_t num_participants,
                                                    std::uint64_t seed, const Episodes& episodes = {});

// By how much the classic algorithm that is fastest in a parameter set, which may be another one in each, is slower there than
// the engine. Classic are all but the engine and the paper's.
std::vector<double> gains_over_classic(const std::vector<ComparedRow>& rows, std::vector<double> Costs::* figures);
const ComparedRow* find_row(const std::vector<ComparedRow>& rows, Algorithm algorithm);

// By how much `a` is slower than `b` in the same parameter set, by the period.
Range ratio_range(const std::vector<double>& a, const std::vector<double>& b);

nlohmann::ordered_json to_json(const Range& range);
nlohmann::ordered_json to_json(const ComparedRow& row);

}  // namespace hierbar::bench::model

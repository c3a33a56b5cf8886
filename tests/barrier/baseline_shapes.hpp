// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "barrier/algorithm.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::test {

// A baseline, and the plan over which it crosses.
struct BaselineCase {
  Algorithm algorithm;
  TestPlan plan;

  std::string name() const {
    std::string text = std::string(algorithm_name(algorithm)) + "_" + plan.name();
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
  }
};

// Every baseline with each of these numbers of participants. `topo` follows the plan's groups, so
// it gets more plans: groups of one level and of several, of equal and of different sizes, of
// neighbours and of participants in turn.
inline std::vector<BaselineCase> baseline_cases(const std::vector<std::uint32_t>& counts) {
  std::vector<BaselineCase> cases;
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm == Algorithm::kHier) continue;
    for (const std::uint32_t count : counts) cases.push_back({named.algorithm, make_flat(count)});
  }
  const std::uint32_t most = *std::max_element(counts.begin(), counts.end());
  const auto add_groups = [&](std::string name, const ForestShape& shape) {
    TestPlan plan = make_forest(std::move(name), shape);
    if (plan.view().num_participants <= most) cases.push_back({Algorithm::kTopo, std::move(plan)});
  };
  constexpr auto kFlags = HIERBAR_RELEASE_FLAGS;
  add_groups("one_group_5", {{5}, 4, kFlags});
  add_groups("groups_3_1_1", {{3, 1, 1}, 2, kFlags});
  add_groups("groups_2x4_round", {{4, 4}, 3, kFlags, Numbering::kRound});
  add_groups("groups_4x4_two_levels", {{4, 4, 4, 4}, 3, kFlags, Numbering::kBlocks, 2});
  add_groups("groups_11x3_round", {std::vector<std::uint32_t>(11, 3), 2, kFlags, Numbering::kRound});
  add_groups("groups_16x4_two_levels_round", {std::vector<std::uint32_t>(16, 4), 3, kFlags, Numbering::kRound, 4});
  return cases;
}

}  // namespace hierbar::test

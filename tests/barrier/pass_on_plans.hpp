// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/test_plans.hpp"

namespace hierbar::test {

// A plan as pass_on() reads it.
struct PlanShape {
  hierbar_plan plan;
  const hierbar_plan_node& node(std::uint32_t participant) const { return plan.nodes[participant]; }
  std::uint32_t child(const hierbar_plan_node& parent, std::uint32_t i) const { return plan.children[parent.first_child + i]; }
  std::uint32_t num_leaders() const { return plan.num_leaders; }
  std::uint32_t leader(std::uint32_t i) const { return plan.leaders[i]; }
};

// Queues of every length: flat plans, single domains, many domains, chains, groups of leaders.
inline std::vector<TestPlan> pass_on_plans() {
  constexpr auto kFlags = HIERBAR_RELEASE_FLAGS;
  std::vector<TestPlan> plans;
  for (std::uint32_t count = 1; count <= 24; ++count) plans.push_back(make_flat(count));
  for (const std::uint32_t count : {64U, 256U}) plans.push_back(make_flat(count));
  for (const std::uint32_t count : {8U, 16U}) plans.push_back(make_crews(count, 2));
  for (const std::uint32_t members : {1U, 4U, 5U, 15U, 20U, 21U}) {
    plans.push_back(make_forest("star_" + std::to_string(members), {{members + 1}, members, kFlags}));
  }
  plans.push_back(make_forest("chain_9", {{9}, 1, kFlags}));
  plans.push_back(make_forest("binary_64", {{64}, 2, kFlags}));
  plans.push_back(make_forest("domains_8x16", {std::vector<std::uint32_t>(8, 16), 15, kFlags}));
  plans.push_back(make_forest("domains_16x16", {std::vector<std::uint32_t>(16, 16), 15, kFlags}));
  plans.push_back(make_forest("domains_16x16_round", {std::vector<std::uint32_t>(16, 16), 15, kFlags, Numbering::kRound}));
  plans.push_back(make_forest("domains_uneven", {{1, 7, 30, 2, 1, 19}, 6, kFlags}));
  plans.push_back(make_forest("groups_64", {std::vector<std::uint32_t>(32, 2), 2, kFlags, Numbering::kBlocks, 8}));
  plans.push_back(make_forest("groups_256", {std::vector<std::uint32_t>(32, 8), 7, kFlags, Numbering::kRound, 8}));
  return plans;
}

}  // namespace hierbar::test

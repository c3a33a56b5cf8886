// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The barrier oracle with episodes that carry data, on simulated memory, under thousands of seeded
// schedules for each shape. To repeat one:
// HIERBAR_TEST_SEED=<seed> collectives_sim_test --gtest_filter=*<shape>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/barrier/collective_subject.hpp"
#include "tests/barrier/simulated/sim_trial.hpp"

namespace hierbar::test {
namespace {

constexpr auto kFlags = HIERBAR_RELEASE_FLAGS;
constexpr auto kLines = HIERBAR_RELEASE_LINES;

std::vector<TestPlan> shapes() {
  std::vector<TestPlan> plans;
  for (const std::uint32_t count : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 16U})
    plans.push_back(make_flat(count));
  plans.push_back(make_crews(2, 1));
  plans.push_back(make_crews(2, 2));
  plans.push_back(make_crews(5, 1));
  plans.push_back(make_crews(5, 5));
  plans.push_back(make_crews(7, 2));
  plans.push_back(make_crews(16, 4));
  plans.push_back(make_forest("tree_2_flags", {{2}, 2, kFlags}));
  plans.push_back(make_forest("tree_3_lines", {{3}, 2, kLines}));
  plans.push_back(make_forest("chain_4_flags", {{4}, 1, kFlags}));
  plans.push_back(make_forest("star_7_lines", {{7}, 6, kLines}));
  plans.push_back(make_forest("domains_2x2_flags", {{2, 2}, 2, kFlags}));
  plans.push_back(make_forest("domains_3_1_1_lines", {{3, 1, 1}, 2, kLines}));
  plans.push_back(
      make_forest("domains_3x2_round_flags", {{2, 2, 2}, 2, kFlags, Numbering::kRound}));
  plans.push_back(
      make_forest("domains_3x3_round_lines", {{3, 3, 3}, 2, kLines, Numbering::kRound}));
  plans.push_back(make_forest("domains_4x4_flags", {{4, 4, 4, 4}, 3, kFlags}));
  plans.push_back(
      make_forest("domains_33_round_lines", {{11, 11, 11}, 3, kLines, Numbering::kRound}));
  const std::vector<std::uint32_t> pairs(32, 2);
  plans.push_back(make_forest("groups_64_flags", {pairs, 2, kFlags, Numbering::kBlocks, 8}));
  plans.push_back(make_forest("groups_64_round_lines", {pairs, 2, kLines, Numbering::kRound, 8}));
  return plans;
}

const std::vector<TestPlan>& all_shapes() {
  static const std::vector<TestPlan> plans = shapes();
  return plans;
}

// With two, sizes are on both sides of every limit.
CallSizes sizes_of(std::uint32_t num_participants) {
  return {num_participants == 2 ? 1800U : 640U, {4, 8, 12}};
}

std::uint64_t num_schedules(std::uint32_t num_participants) {
  return num_participants <= 4 ? 6000 : num_participants <= 16 ? 2000 : 200;
}

class CollectivesOnSimulatedMemory
    : public testing::TestWithParam<std::tuple<std::size_t, Fencing>> {};

TEST_P(CollectivesOnSimulatedMemory, KeepTheOracleUnderEverySchedule) {
  const TestPlan& plan = all_shapes()[std::get<0>(GetParam())];
  const Fencing fencing = std::get<1>(GetParam());
  if (fencing == Fencing::kBySleepers && plan.view().num_crews != 0)
    GTEST_SKIP() << "with crews the writers always fence";
  const std::uint32_t count = plan.view().num_participants;
  SimTrial<SimMem, CollectiveSubject> trial(plan, {fencing, sizes_of(count)});
  const Seeds seeds = chosen_seeds(num_schedules(count));
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Outcome outcome = trial.run(seed);
    ASSERT_EQ(outcome.failure, Failure::kNone)
        << plan.name() << " fails: " << outcome.what << "\nagain: HIERBAR_TEST_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CollectivesOnSimulatedMemory,
                         testing::Combine(testing::Range<std::size_t>(0, all_shapes().size()),
                                          testing::Values(Fencing::kByWriters,
                                                          Fencing::kBySleepers)),
                         [](const auto& instance) {
                           return all_shapes()[std::get<0>(instance.param)].name() +
                                  suffix_of(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace hierbar::test

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The barrier oracle on simulated memory, under thousands of seeded schedules for each shape. A
// failure names its seed. To repeat it:
// HIERBAR_TEST_SEED=<seed> sim_test --gtest_filter=*<shape>
//
// Then the baselines, for each case.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "barrier/barrier_memory.hpp"
#include "tests/barrier/baseline_subject.hpp"
#include "tests/barrier/simulated/sim_trial.hpp"

namespace hierbar::test {
namespace {

constexpr std::uint64_t kSchedulesPerShape = 10'000;

constexpr auto kFlags = HIERBAR_RELEASE_FLAGS;
constexpr auto kLines = HIERBAR_RELEASE_LINES;

std::vector<TestPlan> shapes() {
  std::vector<TestPlan> plans;
  for (const std::uint32_t count : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U})
    plans.push_back(make_flat(count));

  // More participants than cpus: counted by crews.
  plans.push_back(make_crews(5, 1));
  plans.push_back(make_crews(5, 5));
  plans.push_back(make_crews(7, 2));
  plans.push_back(make_crews(16, 2));
  plans.push_back(make_crews(9, 4));

  // One domain: no exchange.
  plans.push_back(make_forest("tree_2_flags", {{2}, 2, kFlags}));
  plans.push_back(make_forest("tree_3_lines", {{3}, 2, kLines}));
  plans.push_back(make_forest("chain_4_flags", {{4}, 1, kFlags}));
  plans.push_back(make_forest("star_7_lines", {{7}, 6, kLines}));

  // Domains of one size, of different sizes, and with participants in turn.
  plans.push_back(make_forest("domains_2x2_flags", {{2, 2}, 2, kFlags}));
  plans.push_back(make_forest("domains_2x2_lines", {{2, 2}, 2, kLines}));
  plans.push_back(make_forest("domains_3_1_1_lines", {{3, 1, 1}, 2, kLines}));
  plans.push_back(
      make_forest("domains_3x2_round_flags", {{2, 2, 2}, 2, kFlags, Numbering::kRound}));
  plans.push_back(make_forest("domains_1_5_1_flags", {{1, 5, 1}, 3, kFlags}));
  plans.push_back(make_forest("domains_2x4_lines", {{4, 4}, 2, kLines}));
  plans.push_back(
      make_forest("domains_3x3_round_lines", {{3, 3, 3}, 2, kLines, Numbering::kRound}));
  plans.push_back(make_forest("domains_4x4_flags", {{4, 4, 4, 4}, 3, kFlags}));
  plans.push_back(make_forest("domains_4x4_lines", {{4, 4, 4, 4}, 3, kLines}));
  plans.push_back(make_forest("domains_33_flags", {{8, 8, 8, 8, 1}, 4, kFlags}));
  plans.push_back(
      make_forest("domains_33_round_lines", {{11, 11, 11}, 3, kLines, Numbering::kRound}));
  plans.push_back(make_forest("domains_64_flags", {std::vector<std::uint32_t>(8, 8), 4, kFlags}));
  plans.push_back(
      make_forest("domains_16x4_lines", {std::vector<std::uint32_t>(16, 4), 3, kLines}));

  // More than 16 domains: their leaders gather to the leaders of groups.
  const std::vector<std::uint32_t> pairs(32, 2);
  plans.push_back(make_forest("groups_64_flags", {pairs, 2, kFlags, Numbering::kBlocks, 8}));
  plans.push_back(make_forest("groups_64_lines", {pairs, 2, kLines, Numbering::kBlocks, 4}));
  plans.push_back(make_forest("groups_64_round_lines", {pairs, 2, kLines, Numbering::kRound, 8}));
  return plans;
}

const std::vector<TestPlan>& all_shapes() {
  static const std::vector<TestPlan> plans = shapes();
  return plans;
}

class BarrierOnSimulatedMemory : public testing::TestWithParam<std::tuple<std::size_t, Fencing>> {};

TEST_P(BarrierOnSimulatedMemory, KeepsTheOracleUnderEverySchedule) {
  const TestPlan& plan = all_shapes()[std::get<0>(GetParam())];
  const Fencing fencing = std::get<1>(GetParam());
  if (fencing == Fencing::kBySleepers && plan.view().num_crews != 0)
    GTEST_SKIP() << "with crews the writers always fence";
  SimTrial<SimMem> trial(plan, EngineSubject{fencing});
  const Seeds seeds = chosen_seeds(kSchedulesPerShape);
  std::uint64_t num_steps = 0;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Outcome outcome = trial.run(seed);
    ASSERT_EQ(outcome.failure, Failure::kNone)
        << plan.name() << " fails: " << outcome.what << "\nagain: HIERBAR_TEST_SEED=" << seed;
    num_steps += outcome.num_steps;
  }
  RecordProperty("steps_per_schedule", std::to_string(num_steps / (seeds.last - seeds.first + 1)));
}

INSTANTIATE_TEST_SUITE_P(Shapes, BarrierOnSimulatedMemory,
                         testing::Combine(testing::Range<std::size_t>(0, all_shapes().size()),
                                          testing::Values(Fencing::kByWriters,
                                                          Fencing::kBySleepers)),
                         [](const auto& instance) {
                           return all_shapes()[std::get<0>(instance.param)].name() +
                                  suffix_of(std::get<1>(instance.param));
                         });

TEST(SimulatedMachine, RunsAlikeForEqualSeeds) {
  const TestPlan plan = make_forest("domains_2x4_lines", {{4, 4}, 2, kLines});
  SimTrial<SimMem> trial(plan);
  SimTrial<SimMem> other(plan);
  other.run(99);
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(trial.run(seed).num_steps, other.run(seed).num_steps);
}

// So many take 20 seconds. HIERBAR_TEST_SCHEDULES=10000 takes three minutes; it is for changes of a
// baseline.
std::uint64_t num_schedules(const TestPlan& plan) {
  return plan.view().num_participants <= 16 ? 2'000 : 500;
}

const std::vector<BaselineCase>& cases() {
  static const std::vector<BaselineCase> all =
      baseline_cases({1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64});
  return all;
}

class BaselineOnSimulatedMemory : public testing::TestWithParam<std::size_t> {};

TEST_P(BaselineOnSimulatedMemory, KeepsTheOracleUnderEverySchedule) {
  const auto& [algorithm, plan] = cases()[GetParam()];
  SimTrial<SimMem, BaselineSubject> trial(plan, {algorithm});
  const Seeds seeds = chosen_seeds(num_schedules(plan));
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Outcome outcome = trial.run(seed);
    ASSERT_EQ(outcome.failure, Failure::kNone)
        << cases()[GetParam()].name() << " fails: " << outcome.what
        << "\nagain: HIERBAR_TEST_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BaselineOnSimulatedMemory,
                         testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& instance) { return cases()[instance.param].name(); });

}  // namespace
}  // namespace hierbar::test

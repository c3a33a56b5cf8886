// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Simulated regions: every shape runs on every mapping, and a broken one is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bench/model/region/region_trial.hpp"
#include "tests/support/machines.hpp"

namespace hierbar::bench::model {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Episodes kFew{.warm_up = 2, .measured = 4};

Scenario scenario_of(std::uint32_t num_threads, Mapping mapping = Mapping::kCore) {
  return *Scenario::make(test::make_kunpeng(), mapping, num_threads);
}

RegionTimes times_of(Scenario& scenario, RegionShape shape, const RegionOptions& options = {},
                     std::uint64_t seed = 1) {
  const Result<RegionTimes> times =
      RegionTrial(scenario, scenario.engine_plan(), options).run(shape, {}, seed, kFew);
  EXPECT_TRUE(times.ok()) << times.error();
  return times.ok() ? *times : RegionTimes{};
}

class EveryRegionShape : public testing::TestWithParam<NamedRegionShape> {};

TEST_P(EveryRegionShape, RunsOnEveryMappingAndWithEveryNumberOfThreads) {
  for (const Mapping mapping : {Mapping::kCore, Mapping::kNuma, Mapping::kPackage}) {
    for (const std::uint32_t num_threads : {2U, 3U, 4U, 5U, 8U, 17U, 63U, 64U, 65U, 128U}) {
      Scenario scenario = scenario_of(num_threads, mapping);
      const RegionTimes times = times_of(scenario, GetParam().shape, {.num_functions = 3});
      EXPECT_GT(times.fork, 30) << num_threads;
      EXPECT_GT(times.isolated, times.fork) << num_threads;
      EXPECT_LT(times.isolated, 100'000) << num_threads;
      EXPECT_GT(times.period, 100) << num_threads;
    }
  }
}

TEST_P(EveryRegionShape, TakesTheSameTimeWithTheSameSeed) {
  Scenario scenario = scenario_of(20);
  const RegionTimes once = times_of(scenario, GetParam().shape, {}, 7);
  EXPECT_EQ(times_of(scenario, GetParam().shape, {}, 7).period, once.period);
  EXPECT_NE(times_of(scenario, GetParam().shape, {}, 8).period, once.period);
}

INSTANTIATE_TEST_SUITE_P(Region, EveryRegionShape, testing::ValuesIn(kRegionShapes),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Unmodified libomp's threads read the function in the team, where it changes. Ours get it anyway.
TEST(Region, OnlyStockFetchesTheFunctionFromTheTeam) {
  Scenario scenario = scenario_of(64);
  const auto more = [&](RegionShape shape) {
    return times_of(scenario, shape, {.num_functions = 2}).fork /
           times_of(scenario, shape, {.num_functions = 1}).fork;
  };
  EXPECT_NEAR(more(RegionShape::kLean), 1, 0.001);
  for (const NamedRegionShape& named : kRegionShapes) {
    if (!named.is_stock) continue;
    EXPECT_GT(more(named.shape), 1) << named.name;
  }
}

TEST(Region, PassingTheReleaseOnIsQuicker) {
  Scenario scenario = scenario_of(128);
  EXPECT_LT(times_of(scenario, RegionShape::kLean).fork,
            0.9 * times_of(scenario, RegionShape::kLeanAtOnce).fork);
}

TEST(Region, LinesInFarMemoryTakeLonger) {
  Scenario scenario = scenario_of(128);
  for (const RegionShape shape : {RegionShape::kLean, RegionShape::kHyper}) {
    EXPECT_GT(times_of(scenario, shape, {.is_local = false}).period,
              times_of(scenario, shape).period);
  }
}

// Two threads: a line out and a line back, and the lines of nobody else.
TEST(Region, TwoThreadsTakeTwoTransfers) {
  Scenario scenario = scenario_of(2);
  Parameters parameters;
  const double latency = parameters.latency[static_cast<std::size_t>(Distance::kCluster)];
  const RegionTimes times = times_of(scenario, RegionShape::kLean);
  EXPECT_GT(times.isolated, 2 * latency);
  EXPECT_LT(times.isolated, 6 * latency + 2 * parameters.notice);
}

TEST(Region, FindsAThreadThatNobodyReleases) {
  Scenario scenario = scenario_of(64);
  EnginePlan plan = scenario.engine_plan();
  ASSERT_FALSE(plan.children.empty());
  --plan.nodes[plan.nodes[plan.children.back()].parent].num_children;
  for (const RegionShape shape : {RegionShape::kLean, RegionShape::kEngine}) {
    const Result<RegionTimes> broken = RegionTrial(scenario, plan).run(shape, {}, 1, kFew);
    ASSERT_FALSE(broken.ok());
    EXPECT_THAT(broken.error(),
                AnyOf(HasSubstr("deadlock"), HasSubstr("it left before all had begun")))
        << broken.error();
    EXPECT_THAT(broken.error(), AnyOf(StartsWith("lean: "), StartsWith("engine: ")));
  }
}

TEST(Region, DistributedGroupsAreThoseOfLibomp) {
  const DistGroups two_packages(128, 2, 64);
  EXPECT_EQ(two_packages.threads_per_go, 32U);
  EXPECT_EQ(two_packages.num_gos, 4U);
  EXPECT_EQ(two_packages.gos_per_group, 2U);
  EXPECT_EQ(two_packages.threads_per_group, 64U);
  const DistGroups one_package(20, 1, 64);
  EXPECT_EQ(one_package.num_gos, 1U);
  EXPECT_EQ(one_package.threads_per_group, 32U);
}

}  // namespace
}  // namespace hierbar::bench::model

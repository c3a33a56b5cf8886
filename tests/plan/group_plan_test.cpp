// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/group_plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/support/machines.hpp"
#include "tests/support/plan_checks.hpp"

namespace hierbar {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<Level> kNumaAndPackage{Level::kNuma, Level::kPackage};

struct Plans {
  EnginePlan engine;
  EnginePlan groups;
};

Plans plans_of(const Machine& machine, Mapping mapping, std::uint32_t num_participants, const std::vector<Level>& levels) {
  const std::vector<LocalityPath> paths = locate_all(machine, *map_participants(machine, mapping, num_participants));
  EnginePlan engine = *build_engine_plan(paths, machine, {});
  EnginePlan groups = *build_group_plan(build_group_tree(paths, machine, levels), engine);
  return {std::move(engine), std::move(groups)};
}

std::vector<std::uint32_t> children_of(const EnginePlan& plan, std::uint32_t participant) {
  const auto first = plan.children.begin() + plan.nodes[participant].first_child;
  return {first, first + plan.nodes[participant].num_children};
}

TEST(GroupPlan, HasTheGroupsOfPaperFigure3InTheOrderInWhichLeadersPoll) {
  const EnginePlan plan = plans_of(test::make_kunpeng(), Mapping::kNuma, 14, kNumaAndPackage).groups;
  EXPECT_THAT(children_of(plan, 0), ElementsAre(4U, 8U, 12U, 1U));  // G1, then G2
  EXPECT_THAT(children_of(plan, 1), ElementsAre(5U, 9U, 13U));
  EXPECT_THAT(children_of(plan, 2), ElementsAre(6U, 10U, 3U));
  EXPECT_THAT(children_of(plan, 3), ElementsAre(7U, 11U));
  EXPECT_THAT(children_of(plan, 4), IsEmpty());
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 2U));
  EXPECT_EQ(plan.depth, 4U);
}

TEST(GroupPlan, FollowsTheVariantsOfThePaper) {
  const Machine machine = test::make_kunpeng();
  const auto leaders = [&](const std::vector<Level>& levels) {
    return plans_of(machine, Mapping::kCore, 128, levels).groups.leaders;
  };
  EXPECT_THAT(leaders({Level::kNuma}), ElementsAre(0U, 32U, 64U, 96U));
  EXPECT_THAT(leaders({Level::kPackage}), ElementsAre(0U, 64U));
  EXPECT_THAT(leaders(kNumaAndPackage), ElementsAre(0U, 64U));
  EXPECT_EQ(leaders({}).size(), 128U);
}

TEST(GroupPlan, StepsAsideWithTheGroups) {
  const Machine machine = test::make_kunpeng();
  const std::vector<LocalityPath> unbound(8);
  const GroupTree tree = build_group_tree(unbound, machine, kNumaAndPackage);
  const Result<EnginePlan> plan = build_group_plan(tree, *build_engine_plan(unbound, machine, {}));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error(), tree.stepped_aside);
}

TEST(GroupPlan, IsAForestOverTheSlotsOfTheEnginesPlan) {
  const Machine machine = test::make_kunpeng();
  for (const Mapping mapping : {Mapping::kCore, Mapping::kNuma, Mapping::kPackage}) {
    for (const std::uint32_t count : test::kTeamSizes) {
      const auto [engine, groups] = plans_of(machine, mapping, count, kNumaAndPackage);
      const hierbar_plan plan = groups.view();
      test::leaders_of(plan);
      EXPECT_EQ(plan.leaders[0], 0U);
      std::vector<std::uint32_t> everybody = groups.leaders;
      everybody.insert(everybody.end(), groups.children.begin(), groups.children.end());
      std::sort(everybody.begin(), everybody.end());
      std::vector<std::uint32_t> once(count);
      std::iota(once.begin(), once.end(), 0U);
      EXPECT_EQ(everybody, once) << "everybody is a leader or somebody's child";
      for (std::uint32_t p = 0; p < count; ++p) {
        EXPECT_EQ(plan.nodes[p].slot, engine.nodes[p].slot);
        for (const std::uint32_t child : children_of(groups, p)) EXPECT_EQ(plan.nodes[child].parent, p);
      }
      for (const std::uint32_t leader : groups.leaders) EXPECT_EQ(plan.nodes[leader].parent, leader);
    }
  }
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "plan/groups.hpp"
#include "plan/locality.hpp"
#include "plan/plan_text.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_checks.hpp"
#include "tests/support/test_plans.hpp"
#include "trace/stamps.h"

namespace hierbar {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<Level> kNumaAndPackage{Level::kNuma, Level::kPackage};

GroupTree group(const Machine& machine, Mapping mapping, std::uint32_t num_participants,
                const std::vector<Level>& levels) {
  return build_group_tree(
      locate_all(machine, *map_participants(machine, mapping, num_participants)), machine, levels);
}

std::vector<std::string> groups_of(const GroupTree& tree, std::size_t level) {
  std::vector<std::string> texts;
  for (const Group& g : tree.levels.at(level).groups) texts.push_back(format_members(g.members));
  return texts;
}

TEST(GroupTree, PaperFigure2Has128ParticipantsMappedByCore) {
  const GroupTree tree = group(test::make_kunpeng(), Mapping::kCore, 128, kNumaAndPackage);
  ASSERT_EQ(tree.levels.size(), 3U);
  EXPECT_THAT(groups_of(tree, 0), ElementsAre("{0..31}", "{32..63}", "{64..95}", "{96..127}"));
  EXPECT_THAT(groups_of(tree, 1), ElementsAre("{0,32}", "{64,96}"));
  EXPECT_THAT(groups_of(tree, 2), ElementsAre("{0,64}"));
  EXPECT_FALSE(tree.levels[2].level.has_value());
  EXPECT_EQ(tree.depth, 4U);
}

TEST(GroupTree, PaperFigure3Has14ParticipantsMappedByNumaNode) {
  const GroupTree tree = group(test::make_kunpeng(), Mapping::kNuma, 14, kNumaAndPackage);
  ASSERT_EQ(tree.levels.size(), 3U);
  EXPECT_THAT(groups_of(tree, 0), ElementsAre("{0,4,8,12}", "{1,5,9,13}", "{2,6,10}", "{3,7,11}"));
  EXPECT_THAT(groups_of(tree, 1), ElementsAre("{0,1}", "{2,3}"));
  EXPECT_THAT(groups_of(tree, 2), ElementsAre("{0,2}"));
}

TEST(GroupTree, VariantWithNumaNodesOnlyJoinsAllOfThemInTop) {
  const GroupTree tree = group(test::make_kunpeng(), Mapping::kCore, 128, {Level::kNuma});
  EXPECT_THAT(groups_of(tree, 1), ElementsAre("{0,32,64,96}"));
  EXPECT_EQ(tree.depth, 3U);
}

TEST(GroupTree, VariantWithPackagesOnlyIgnoresNumaNodes) {
  const GroupTree tree = group(test::make_kunpeng(), Mapping::kPackage, 6, {Level::kPackage});
  EXPECT_THAT(groups_of(tree, 0), ElementsAre("{0,2,4}", "{1,3,5}"));
  EXPECT_THAT(groups_of(tree, 1), ElementsAre("{0,1}"));
}

TEST(GroupTree, WithoutLevelsEverybodyIsInTop) {
  EXPECT_THAT(groups_of(group(test::make_kunpeng(), Mapping::kCore, 5, {}), 0),
              ElementsAre("{0..4}"));
}

TEST(GroupTree, OneParticipantLeadsEveryLevelAndNeedsNoTransfer) {
  const GroupTree tree = group(test::make_kunpeng(), Mapping::kCore, 1, kNumaAndPackage);
  for (std::size_t level = 0; level < 3; ++level)
    EXPECT_THAT(groups_of(tree, level), ElementsAre("{0}"));
  EXPECT_EQ(tree.depth, 0U);
}

TEST(GroupTree, MoreParticipantsThanCpusShareThem) {
  const Machine machine = test::make_machine("2 x 2", {{Level::kPackage, 2}, {Level::kCore, 2}});
  const GroupTree tree = group(machine, Mapping::kCore, 9, {Level::kPackage});
  EXPECT_THAT(groups_of(tree, 0), ElementsAre("{0,1,4,5,8}", "{2,3,6,7}"));
}

TEST(GroupTree, UnevenAndRestrictedCpusMakeUnevenGroups) {
  Machine machine = test::make_kunpeng();
  machine.allowed = CpuSet();
  for (const std::uint32_t cpu : {5U, 31U, 32U, 120U}) machine.allowed.set(cpu);
  const GroupTree tree = group(machine, Mapping::kCore, 5, kNumaAndPackage);
  EXPECT_THAT(groups_of(tree, 0), ElementsAre("{0,1,4}", "{2}", "{3}"));
  EXPECT_THAT(groups_of(tree, 1), ElementsAre("{0,2}", "{3}"));
  EXPECT_THAT(groups_of(tree, 2), ElementsAre("{0,3}"));
}

TEST(GroupTree, AWideBindingIsItsOwnGroupBelowTheLevelItResolvesTo) {
  const Machine machine = test::make_kunpeng();
  std::vector<CpuSet> bindings(3);
  bindings[0].set(0);
  for (std::uint32_t cpu = 0; cpu < 64; ++cpu) bindings[1].set(cpu);
  bindings[2].set(1);
  const GroupTree tree = build_group_tree(locate_all(machine, bindings), machine, kNumaAndPackage);
  EXPECT_THAT(groups_of(tree, 0), ElementsAre("{0,2}", "{1}"));
  EXPECT_THAT(groups_of(tree, 1), ElementsAre("{0,1}"));
}

TEST(GroupTree, StepsAsideAndSaysSoWhenAParticipantIsNotBound) {
  const Machine machine = test::make_kunpeng();
  std::vector<CpuSet> bindings(3);
  bindings[0].set(0);
  bindings[2].set(1);
  const GroupTree tree = build_group_tree(locate_all(machine, bindings), machine, kNumaAndPackage);
  EXPECT_THAT(tree.levels, IsEmpty());
  EXPECT_THAT(tree.stepped_aside, HasSubstr("participant 1 is not bound"));
  EXPECT_THAT(describe_group_tree(tree), ElementsAre(HasSubstr("participant 1 is not bound")));
}

TEST(GroupTree, StepsAsideWhenABindingIsWiderThanEveryLevel) {
  const Machine machine = test::make_kunpeng();
  std::vector<CpuSet> bindings(1);
  bindings[0].set(0);
  bindings[0].set(127);
  const GroupTree tree = build_group_tree(locate_all(machine, bindings), machine, kNumaAndPackage);
  EXPECT_THAT(tree.stepped_aside, HasSubstr("participant 0 is bound more widely"));
}

TEST(GroupTree, EveryParticipantHasExactlyOneLeafGroupAndLeadersAreTheNextMembers) {
  const Machine machine = test::make_hybrid();
  for (const std::uint32_t num_participants : {1U, 2U, 3U, 13U, 20U, 64U}) {
    const GroupTree tree =
        group(machine, Mapping::kCore, num_participants, {Level::kL2, Level::kL3});
    std::vector<std::uint32_t> expected(num_participants);
    for (std::uint32_t i = 0; i < num_participants; ++i) expected[i] = i;
    for (const GroupLevel& level : tree.levels) {
      std::vector<std::uint32_t> members;
      std::vector<std::uint32_t> leaders;
      for (const Group& g : level.groups) {
        EXPECT_THAT(g.members, ::testing::WhenSorted(g.members));
        EXPECT_EQ(g.leader(), g.members.front());
        members.insert(members.end(), g.members.begin(), g.members.end());
        leaders.push_back(g.leader());
      }
      EXPECT_THAT(members, ::testing::UnorderedElementsAreArray(expected));
      expected = leaders;
    }
    EXPECT_THAT(expected, ElementsAre(0U));
  }
}

TEST(GroupTree, TextLabelsLevels) {
  EXPECT_THAT(
      describe_group_tree(group(test::make_kunpeng(), Mapping::kCore, 128, kNumaAndPackage)),
      ElementsAre("paper: 3 levels of groups, depth 4 line transfers",
                  "  G1  numa     {0..31}, {32..63}, {64..95}, {96..127}",
                  "  G2  package  {0,32}, {64,96}", "  G3  top      {0,64}"));
}

struct Plans {
  EnginePlan engine;
  EnginePlan groups;
};

Plans plans_of(const Machine& machine, Mapping mapping, std::uint32_t num_participants,
               const std::vector<Level>& levels) {
  const std::vector<LocalityPath> paths =
      locate_all(machine, *map_participants(machine, mapping, num_participants));
  EnginePlan engine = *build_engine_plan(paths, machine, {});
  EnginePlan groups = *build_group_plan(build_group_tree(paths, machine, levels), engine);
  return {std::move(engine), std::move(groups)};
}

std::vector<std::uint32_t> children_of(const EnginePlan& plan, std::uint32_t participant) {
  const auto first = plan.children.begin() + plan.nodes[participant].first_child;
  return {first, first + plan.nodes[participant].num_children};
}

TEST(GroupPlan, HasTheGroupsOfPaperFigure3InTheOrderInWhichLeadersPoll) {
  const EnginePlan plan =
      plans_of(test::make_kunpeng(), Mapping::kNuma, 14, kNumaAndPackage).groups;
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
        for (const std::uint32_t child : children_of(groups, p))
          EXPECT_EQ(plan.nodes[child].parent, p);
      }
      for (const std::uint32_t leader : groups.leaders)
        EXPECT_EQ(plan.nodes[leader].parent, leader);
    }
  }
}

// On the Kunpeng of the tests: L2 of one cpu, clusters of 4, an L3 and NUMA node of 32, packages of
// 64.
GroupUnits units_on_kunpeng(std::vector<std::uint32_t> parents,
                            const std::vector<CpuSet>& bindings) {
  const test::TestPlan plan("tree", std::move(parents), HIERBAR_RELEASE_FLAGS);
  const Machine machine = test::make_kunpeng();
  return find_group_units(plan.view(), machine, locate_all(machine, bindings));
}

CpuSet cpu(std::uint32_t number) { return CpuSet::range(number, number); }

TEST(GroupUnits, AreTheSmallestThatHoldTheWholeGroup) {
  const GroupUnits units =
      units_on_kunpeng({0, 0, 0, 2, 4, 4}, {cpu(0), cpu(1), cpu(31), cpu(30), cpu(64), cpu(96)});
  EXPECT_THAT(units.gather,
              ElementsAre(HIERBAR_UNIT_L3, HIERBAR_UNIT_UNKNOWN, HIERBAR_UNIT_CLUSTER,
                          HIERBAR_UNIT_UNKNOWN, HIERBAR_UNIT_PACKAGE, HIERBAR_UNIT_UNKNOWN));
  EXPECT_EQ(units.exchange, HIERBAR_UNIT_MACHINE);
}

TEST(GroupUnits, AreNotBelievedToBeSmallerThanABinding) {
  const GroupUnits units = units_on_kunpeng({0, 0}, {CpuSet::range(0, 63), cpu(1)});
  EXPECT_EQ(units.gather[0], HIERBAR_UNIT_PACKAGE);
  EXPECT_EQ(units.exchange, HIERBAR_UNIT_PACKAGE) << "of one leader, where it may run";
}

TEST(GroupUnits, AreUnknownWhereSomebodyIsNotBound) {
  const GroupUnits units = units_on_kunpeng({0, 0, 2, 2}, {cpu(0), CpuSet(), cpu(8), cpu(9)});
  EXPECT_THAT(units.gather, ElementsAre(HIERBAR_UNIT_UNKNOWN, HIERBAR_UNIT_UNKNOWN,
                                        HIERBAR_UNIT_CLUSTER, HIERBAR_UNIT_UNKNOWN));
  EXPECT_EQ(units.exchange, HIERBAR_UNIT_L3);
}

}  // namespace
}  // namespace hierbar

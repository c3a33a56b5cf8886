// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "plan/plan_text.hpp"
#include "plan/shape.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_checks.hpp"

namespace hierbar {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

EnginePlan plan_of(const Machine& machine, Mapping mapping, std::uint32_t num_participants,
                   const ShapeOptions& options = {}) {
  return *build_engine_plan(
      locate_all(machine, *map_participants(machine, mapping, num_participants)), machine, options);
}

std::string children_of(const EnginePlan& plan, std::uint32_t participant) {
  const auto first = plan.children.begin() + plan.nodes[participant].first_child;
  return format_members(
      std::vector<std::uint32_t>(first, first + plan.nodes[participant].num_children));
}

Machine one_l3(int num_cores, int threads = 1) {
  return test::make_machine(
      "one L3", {{Level::kPackage, 1}, {Level::kL3, 1}, {Level::kCore, num_cores}}, threads);
}

Machine rome() {
  return test::make_machine(
      "2 x EPYC 7742",
      {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kL3, 16}, {Level::kCore, 4}}, 2);
}

TEST(Shape, OneParticipantIsALeaderAndNeedsNoTransfer) {
  const EnginePlan plan = plan_of(test::make_kunpeng(), Mapping::kCore, 1);
  EXPECT_THAT(plan.leaders, ElementsAre(0U));
  EXPECT_EQ(plan.depth, 0U);
}

TEST(Shape, UpToFourAreOneExchangeWhereverTheyAre) {
  const EnginePlan plan = plan_of(test::make_kunpeng(), Mapping::kNuma, 4);
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_EQ(plan.depth, 1U);
}

TEST(Shape, PlansThatAreAlwaysFlatDoNotDependOnTheMachine) {
  const EnginePlan here = plan_of(test::make_kunpeng(), Mapping::kNuma, 4);
  const EnginePlan nowhere = *build_engine_plan(std::vector<LocalityPath>(4), one_l3(1), {});
  test::check_same(here.view(), nowhere.view());
}

TEST(Shape, UpToEightInOneDomainAreOneExchange) {
  EXPECT_EQ(plan_of(test::make_kunpeng(), Mapping::kCore, 8).leaders.size(), 8U);
  EXPECT_EQ(plan_of(one_l3(8), Mapping::kCore, 8).depth, 1U);
  EXPECT_THAT(plan_of(one_l3(9), Mapping::kCore, 9).leaders, ElementsAre(0U, 3U, 6U));
}

TEST(Shape, UpToTenInSeveralDomainsAreOneExchange) {
  EXPECT_EQ(plan_of(test::make_kunpeng(), Mapping::kNuma, 10).depth, 1U);
  EXPECT_THAT(plan_of(test::make_kunpeng(), Mapping::kNuma, 11).leaders,
              ElementsAre(0U, 1U, 2U, 3U));
}

TEST(Shape, UnboundParticipantsAreOneDomainInIndexOrder) {
  EXPECT_EQ(plan_of(rome(), Mapping::kNone, 8).leaders.size(), 8U);
  const EnginePlan plan = plan_of(rome(), Mapping::kNone, 20);
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 5U, 10U, 15U));
  EXPECT_EQ(children_of(plan, 5), "{6..9}");
}

TEST(Shape, AnOversubscribedTeamIsFlatOnUpToSixteenCpus) {
  EXPECT_EQ(plan_of(one_l3(64), Mapping::kCore, 16, ShapeOptions{.num_cpus = 15}).depth, 1U);
  EXPECT_EQ(plan_of(one_l3(64), Mapping::kCore, 16, ShapeOptions{.num_cpus = 16}).depth, 3U);
  EXPECT_EQ(plan_of(one_l3(16), Mapping::kCore, 256, ShapeOptions{.num_cpus = 16}).depth, 1U);
  const ShapeOptions oversubscribed{.num_cpus = 17};
  EXPECT_THAT(plan_of(one_l3(64), Mapping::kCore, 20, oversubscribed).leaders,
              ElementsAre(0U, 4U, 8U, 12U, 16U));
  EXPECT_EQ(plan_of(one_l3(64), Mapping::kCore, 256, oversubscribed).leaders.size(), 16U);
}

TEST(Shape, OversubscribedLeadersAreDividedIntoCrewsByCore) {
  const ShapeOptions oversubscribed{.num_cpus = 4};
  const EnginePlan plan = plan_of(one_l3(4), Mapping::kCore, 10, oversubscribed);
  EXPECT_THAT(crews_of(plan.view()),
              ElementsAre(ElementsAre(0U, 4U, 8U), ElementsAre(1U, 5U, 9U), ElementsAre(2U, 6U),  //
                          ElementsAre(3U, 7U)));
  EXPECT_EQ(plan.nodes[5].crew_size, 3U);
  EXPECT_EQ(plan.nodes[6].crew_size, 2U);
  EXPECT_EQ(crews_of(plan_of(one_l3(4), Mapping::kNone, 10, oversubscribed).view()).size(), 1U);
}

TEST(Shape, NobodyElseHasCrews) {
  EXPECT_EQ(plan_of(one_l3(8), Mapping::kCore, 8, ShapeOptions{.num_cpus = 8}).num_crews, 0U);
  EXPECT_EQ(plan_of(one_l3(2), Mapping::kCore, 4, ShapeOptions{.num_cpus = 2}).num_crews, 0U)
      << "always flat";
  EXPECT_EQ(plan_of(one_l3(17), Mapping::kCore, 20, ShapeOptions{.num_cpus = 17}).num_crews, 0U)
      << "not all are leaders";
}

TEST(Shape, OversubscribedDomainsHaveALeaderEach) {
  const EnginePlan plan =
      plan_of(test::make_kunpeng(), Mapping::kNuma, 8, ShapeOptions{.num_cpus = 4});
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_EQ(children_of(plan, 1), "{5}");
}

TEST(Shape, DomainsOfAKunpengAreItsL3sWithTwoLeadersEach) {
  const EnginePlan plan = plan_of(test::make_kunpeng(), Mapping::kCore, 128);
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 16U, 32U, 48U, 64U, 80U, 96U, 112U));
  EXPECT_EQ(children_of(plan, 32), "{33..47}");
  EXPECT_EQ(plan.depth, 3U);
  EXPECT_EQ(plan.line_bytes, 128U);
}

TEST(Shape, TheMappingDoesNotChangeTheShape) {
  const EnginePlan by_core = plan_of(test::make_kunpeng(), Mapping::kCore, 128);
  for (const Mapping mapping : {Mapping::kNuma, Mapping::kPackage}) {
    const EnginePlan plan = plan_of(test::make_kunpeng(), mapping, 128);
    EXPECT_EQ(plan.leaders.size(), by_core.leaders.size());
    EXPECT_EQ(plan.depth, by_core.depth);
    EXPECT_EQ(gather_arities(plan.view()), gather_arities(by_core.view()));
  }
}

TEST(Shape, FourteenByNumaNodeHaveFourLeaders) {
  const EnginePlan plan = plan_of(test::make_kunpeng(), Mapping::kNuma, 14);
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_EQ(children_of(plan, 0), "{4,8,12}");
  EXPECT_EQ(plan.depth, 3U);
}

TEST(Shape, OneLargeDomainIsCutAlongItsClusters) {
  const EnginePlan plan = plan_of(test::make_kunpeng(), Mapping::kCore, 32);
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 8U, 16U, 24U));
  EXPECT_EQ(plan.depth, 3U);
}

TEST(Shape, OneLargeDomainHasFourToEightLeaders) {
  EXPECT_EQ(plan_of(one_l3(17), Mapping::kCore, 17).leaders.size(), 4U);
  EXPECT_EQ(plan_of(one_l3(64), Mapping::kCore, 64).leaders.size(), 4U);
  EXPECT_EQ(plan_of(one_l3(96), Mapping::kCore, 96).leaders.size(), 6U);
  EXPECT_EQ(plan_of(one_l3(256), Mapping::kCore, 256).leaders.size(), 8U);
}

TEST(Shape, TwoLargeDomainsAreHalvedBetweenTheirSubUnits) {
  const Machine machine = test::make_machine(
      "2 x 30", {{Level::kPackage, 2}, {Level::kL3, 1}, {Level::kCluster, 5}, {Level::kCore, 6}});
  EXPECT_THAT(plan_of(machine, Mapping::kCore, 60).leaders, ElementsAre(0U, 12U, 30U, 42U));
}

TEST(Shape, ALargeDomainHasItsShareOfTheLeaders) {
  EXPECT_THAT(plan_of(test::make_kunpeng(), Mapping::kCore, 40).leaders,
              ElementsAre(0U, 8U, 20U, 32U));
}

TEST(Shape, UpToSixteenDomainsExchangeThemselves) {
  const Machine machine =
      test::make_machine("Milan", {{Level::kPackage, 2}, {Level::kL3, 8}, {Level::kCore, 8}});
  const EnginePlan plan = plan_of(machine, Mapping::kCore, 128);
  EXPECT_EQ(plan.leaders.size(), 16U);
  EXPECT_EQ(plan.depth, 3U);
}

TEST(Shape, MoreThanSixteenDomainsAreGatheredByNumaNode) {
  const Machine machine = test::make_machine(
      "NPS4", {{Level::kPackage, 2}, {Level::kNuma, 4}, {Level::kL3, 4}, {Level::kCore, 4}});
  const EnginePlan plan = plan_of(machine, Mapping::kCore, 128);
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 16U, 32U, 48U, 64U, 80U, 96U, 112U));
  EXPECT_EQ(children_of(plan, 16), "{17..20,24,28}");
  EXPECT_EQ(plan.depth, 5U);
}

TEST(Shape, MoreThanSixteenDomainsAreGatheredEvenlyWithoutNumaNodes) {
  const EnginePlan plan = plan_of(rome(), Mapping::kCore, 128);
  EXPECT_EQ(plan.leaders.size(), 8U);
  EXPECT_EQ(children_of(plan, 16), "{17..20,24,28}");
  EXPECT_EQ(plan.depth, 5U);
}

TEST(Shape, EvenGroupsOfDomainsKeepPackagesApart) {
  const Machine machine = test::make_machine(
      "POWER9", {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kL3, 9}, {Level::kCore, 2}}, 4);
  const EnginePlan plan = plan_of(machine, Mapping::kCore, 36);
  const std::vector<std::uint32_t> leaders = test::leaders_of(plan.view());
  for (std::uint32_t i = 0; i < 36; ++i) EXPECT_EQ(leaders[i] < 18, i < 18) << i;
}

TEST(Shape, SmtSiblingsGatherFirstInLargeParts) {
  const Machine machine = test::make_machine(
      "2 x 64 SMT2", {{Level::kPackage, 2}, {Level::kL3, 1}, {Level::kCore, 64}}, 2);
  const EnginePlan plan = plan_of(machine, Mapping::kCore, 256);
  EXPECT_EQ(children_of(plan, 1), "{129}");
  EXPECT_EQ(children_of(plan, 16), "{17..31,144}");
}

TEST(Shape, UpToSixteenMembersAreOneLevelAndSeventeenAreTwo) {
  const Machine machine =
      test::make_machine("2 x 17", {{Level::kPackage, 2}, {Level::kL3, 1}, {Level::kCore, 17}});
  std::vector<CpuSet> bindings(33);
  for (std::uint32_t i = 0; i < 33; ++i) bindings[i].set(i);
  const EnginePlan plan = *build_engine_plan(locate_all(machine, bindings), machine,
                                             ShapeOptions{.domain_level = Level::kPackage});
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 17U));
  EXPECT_EQ(children_of(plan, 17), "{18..32}");
  EXPECT_EQ(children_of(plan, 0), "{1..5,11}");
  EXPECT_EQ(children_of(plan, 5), "{6..10}");
}

TEST(Shape, CoresWithoutAnL3AreADomainOfTheirOwn) {
  const EnginePlan plan = plan_of(test::make_partial_l3(), Mapping::kCore, 14);
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 4U, 8U, 12U));
  EXPECT_EQ(children_of(plan, 12), "{13}");
}

TEST(Shape, WideBindingsAreADomainOfTheUnitTheyResolveTo) {
  const Machine machine = rome();
  std::vector<CpuSet> bindings(6);
  for (std::uint32_t i = 0; i < 6; ++i) {
    for (std::uint32_t cpu = 0; cpu < 128; ++cpu) bindings[i].set(cpu + (i % 2) * 128);
  }
  const EnginePlan plan = *build_engine_plan(locate_all(machine, bindings), machine,
                                             ShapeOptions{.domain_level = Level::kL3});
  EXPECT_THAT(plan.leaders, ElementsAre(0U, 1U));
  EXPECT_EQ(children_of(plan, 0), "{2,4}");
}

TEST(Shape, MachinesWithoutSharedL3UseNumaNodesThenPackages) {
  const Machine numa = test::make_machine(
      "KNL", {{Level::kPackage, 1}, {Level::kNuma, 4}, {Level::kL2, 9}, {Level::kCore, 2}}, 4);
  EXPECT_EQ(domain_level(numa, std::nullopt), Level::kNuma);
  const Machine packages = test::make_machine(
      "2 packages", {{Level::kNuma, 1}, {Level::kPackage, 2}, {Level::kCore, 4}});
  EXPECT_EQ(domain_level(packages, std::nullopt), Level::kPackage);
  EXPECT_EQ(domain_level(test::make_machine("private L3", {{Level::kCore, 4}, {Level::kL3, 1}}),
                         std::nullopt),
            Level::kMachine);
}

TEST(Shape, AWantedLevelReplacesTheDomain) {
  const EnginePlan by_package = plan_of(test::make_kunpeng(), Mapping::kCore, 32,
                                        ShapeOptions{.domain_level = Level::kCluster});
  EXPECT_THAT(by_package.leaders, ElementsAre(0U, 4U, 8U, 12U, 16U, 20U, 24U, 28U));
  const EnginePlan by_cluster = plan_of(test::make_kunpeng(), Mapping::kCore, 128,
                                        ShapeOptions{.domain_level = Level::kCluster});
  EXPECT_THAT(by_cluster.leaders, ElementsAre(0U, 16U, 32U, 48U, 64U, 80U, 96U, 112U));
  const EnginePlan few = plan_of(test::make_kunpeng(), Mapping::kNuma, 8,
                                 ShapeOptions{.domain_level = Level::kPackage});
  EXPECT_THAT(few.leaders, ElementsAre(0U, 2U))
      << "a level that was asked for is used by small teams, too";
}

TEST(Shape, SlotsFollowTheTopologyAndNumaNodesStartPages) {
  const EnginePlan plan = plan_of(test::make_kunpeng(), Mapping::kNuma, 14);
  const auto slot = [&plan](std::uint32_t i) { return plan.nodes[i].slot; };
  EXPECT_EQ(slot(0), 0U);
  EXPECT_EQ(slot(4), 1U);
  EXPECT_EQ(slot(1), 8U);
  EXPECT_EQ(slot(2), 16U);
  EXPECT_EQ(slot(3), 24U);
  EXPECT_EQ(plan.num_slots, 27U);
}

TEST(Shape, SlotsHaveNoGapsInsideOneNumaNode) {
  EXPECT_EQ(plan_of(test::make_kunpeng(), Mapping::kCore, 32).num_slots, 32U);
  EXPECT_EQ(plan_of(one_l3(8), Mapping::kNone, 100).num_slots, 100U);
}

TEST(Shape, PagesMayBeLarge) {
  const EnginePlan plan =
      plan_of(test::make_kunpeng(), Mapping::kNuma, 8, ShapeOptions{.page_bytes = 65536});
  EXPECT_EQ(plan.nodes[1].slot, 128U);
}

TEST(Shape, LinesAreAtLeast128BytesAndAPowerOfTwo) {
  Machine machine = one_l3(2);
  EXPECT_EQ(plan_of(machine, Mapping::kCore, 2).line_bytes, 128U);
  machine.line_bytes = 256;
  EXPECT_EQ(plan_of(machine, Mapping::kCore, 2).line_bytes, 256U);
}

TEST(Shape, ReleaseIsWhatTheOptionsSay) {
  EXPECT_EQ(plan_of(one_l3(2), Mapping::kCore, 2).view().release, HIERBAR_RELEASE_FLAGS);
  EXPECT_EQ(plan_of(one_l3(2), Mapping::kCore, 2, ShapeOptions{.release = HIERBAR_RELEASE_LINES})
                .view()
                .release,
            HIERBAR_RELEASE_LINES);
}

TEST(Shape, RefusesNobodyAndTooMany) {
  const Machine machine = one_l3(2);
  EXPECT_THAT(build_engine_plan({}, machine, {}).error(), HasSubstr("not 0"));
  const std::vector<LocalityPath> too_many(kMaxParticipants + 1);
  EXPECT_THAT(build_engine_plan(too_many, machine, {}).error(), HasSubstr("1048577"));
}

TEST(Shape, AHundredThousandParticipantsStillHaveFewLevels) {
  const EnginePlan plan = *build_engine_plan(std::vector<LocalityPath>(1U << 17), one_l3(2), {});
  EXPECT_EQ(plan.leaders.size(), 8U);
  EXPECT_LE(plan.depth, 11U);
}

TEST(Shape, TextLabelsTheEnginesPlan) {
  const std::vector<std::string> lines =
      describe_engine_plan(plan_of(test::make_kunpeng(), Mapping::kNuma, 14).view());
  EXPECT_THAT(
      lines,
      ElementsAre("engine: 14 participants, depth 3 line transfers",
                  "  phases   gather 1, exchange 1, release 1 (flags)", "  leaders  {0..3}",
                  "  arity    exchange 4; gather 2 (2x), 3 (2x)",
                  "  slots    27 of 4 lines of 128 bytes (13 KiB)", "  gather", "    0 <- {4,8,12}",
                  "    1 <- {5,9,13}", "    2 <- {6,10}", "    3 <- {7,11}"));
}

TEST(ShapeProperties, HoldOnRegularMachines) {
  using enum Level;
  const std::vector<std::pair<std::vector<test::LevelArity>, int>> machines = {
      {{{kCore, 1}}, 1},
      {{{kPackage, 1}, {kL3, 1}, {kCore, 2}}, 1},
      {{{kPackage, 1}, {kNuma, 1}, {kL3, 1}, {kCore, 6}}, 2},
      {{{kPackage, 2}, {kNuma, 1}, {kL3, 1}, {kCore, 28}}, 2},
      {{{kPackage, 2}, {kNuma, 4}, {kL3, 2}, {kCore, 8}}, 2},
      {{{kPackage, 2}, {kNuma, 1}, {kL3, 16}, {kCore, 4}}, 2},
      {{{kPackage, 2}, {kNuma, 1}, {kL3, 10}, {kCore, 2}}, 4},
      {{{kPackage, 2}, {kL3, 1}, {kNuma, 4}, {kCore, 14}}, 2},
      {{{kPackage, 1}, {kNuma, 4}, {kL2, 9}, {kCore, 2}}, 4},
      {{{kPackage, 1}, {kNuma, 4}, {kL2, 1}, {kCore, 12}}, 1},
      {{{kPackage, 4}, {kDie, 2}, {kNuma, 1}, {kL3, 4}, {kCore, 8}}, 1},
      {{{kPackage, 3}, {kNuma, 5}, {kCluster, 3}, {kCore, 3}}, 1},
  };
  for (std::size_t i = 0; i < machines.size(); ++i) {
    test::check_plans_of(
        test::make_machine("machine " + std::to_string(i), machines[i].first, machines[i].second));
  }
  test::check_plans_of(test::make_kunpeng());
}

TEST(ShapeProperties, HoldOnAsymmetricMachines) {
  test::check_plans_of(test::make_hybrid());
  test::check_plans_of(test::make_partial_l3());
}

TEST(ShapeProperties, HoldForOversubscribedTeams) {
  for (const std::uint32_t num_cpus : {1, 16, 64}) {
    test::check_plans_of(test::make_kunpeng(), ShapeOptions{.num_cpus = num_cpus});
    test::check_plans_of(test::make_partial_l3(), ShapeOptions{.num_cpus = num_cpus});
  }
}

TEST(ShapeProperties, HoldForEveryWantedLevelAndPageSize) {
  for (const Level level :
       {Level::kL2, Level::kCluster, Level::kL3, Level::kNuma, Level::kPackage, Level::kMachine}) {
    test::check_plans_of(test::make_kunpeng(), ShapeOptions{.domain_level = level});
    test::check_plans_of(test::make_hybrid(),
                         ShapeOptions{.domain_level = level, .page_bytes = 65536});
  }
}

// Adds up to four levels of random arity and label below a unit.
void grow(test::MachineBuilder& builder, int unit, int level, std::mt19937& random) {
  const int num_children = 1 + static_cast<int>(random() % 5);
  for (int i = 0; i < num_children; ++i) {
    const int below = level - 1 - static_cast<int>(random() % 2);
    if (below <= static_cast<int>(Level::kCore)) {
      builder.add_core(unit, 1 + static_cast<int>(random() % 2));
    } else {
      const int child = builder.add_unit(unit, static_cast<Level>(below));
      builder.add_core(child, 1);  // a unit has more than one core, or it would not be distinct
      grow(builder, child, below, random);
    }
  }
}

TEST(ShapeProperties, HoldOnRandomMachines) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    test::MachineBuilder builder;
    grow(builder, 0, static_cast<int>(Level::kMachine), random);
    test::check_plans_of(builder.build("random machine of seed " + std::to_string(seed)));
    if (HasFailure()) return;
  }
}

TEST(ShapeProperties, HoldForRandomBindings) {
  const Machine machine = test::make_machine(
      "2 x EPYC 7742",
      {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kL3, 16}, {Level::kCore, 4}}, 2);
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<LocalityPath> paths(1 + random() % 200);
    for (LocalityPath& path : paths) {
      CpuSet binding;
      const std::uint32_t width = random() % 3 == 0 ? 1U << random() % 9 : 1;
      const std::uint32_t first = random() % 256;
      for (std::uint32_t cpu = first; cpu < std::min(256U, first + width); ++cpu) binding.set(cpu);
      if (random() % 10 != 0) path = locate(machine, binding);
    }
    const EnginePlan plan = *build_engine_plan(paths, machine, {});
    test::check_forest(plan.view());
    test::check_depth_and_arity(plan.view());
    test::check_slots(plan.view(), machine, paths, 4096);
    test::check_domains(plan.view(), machine, paths, {});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hierbar

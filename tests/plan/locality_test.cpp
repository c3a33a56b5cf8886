// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include "plan/locality.hpp"
#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using ::testing::ElementsAre;

// The highest label of each unit of the path.
std::vector<Level> levels_of(const Machine& machine, const LocalityPath& path) {
  std::vector<Level> levels;
  for (const int unit : path.units) {
    for (int level = kNumLevels - 1; level >= 0; --level) {
      if (!machine.units[unit].has(static_cast<Level>(level))) continue;
      levels.push_back(static_cast<Level>(level));
      break;
    }
  }
  return levels;
}

TEST(Locality, OneCpuResolvesDownToItsCore) {
  const Machine machine = test::make_kunpeng();
  const LocalityPath path = locate(machine, CpuSet::range(33, 33));
  EXPECT_TRUE(path.bound);
  EXPECT_TRUE(path.resolved());
  EXPECT_THAT(levels_of(machine, path), ElementsAre(Level::kL2, Level::kCluster, Level::kNuma,
                                                    Level::kPackage, Level::kMachine));
}

TEST(Locality, AWideBindingDoesNotResolveBelowTheUnitThatHoldsAllOfIt) {
  const Machine machine = test::make_kunpeng();
  EXPECT_THAT(levels_of(machine, locate(machine, CpuSet::range(0, 63))),
              ElementsAre(Level::kPackage, Level::kMachine));
  EXPECT_THAT(levels_of(machine, locate(machine, CpuSet::range(31, 32))),
              ElementsAre(Level::kPackage, Level::kMachine));
  EXPECT_THAT(levels_of(machine, locate(machine, CpuSet::range(30, 31))),
              ElementsAre(Level::kCluster, Level::kNuma, Level::kPackage, Level::kMachine));
}

TEST(Locality, ABindingAcrossPackagesHasOnlyTheMachine) {
  const Machine machine = test::make_kunpeng();
  const LocalityPath path = locate(machine, CpuSet::range(63, 64));
  EXPECT_TRUE(path.bound);
  EXPECT_FALSE(path.resolved());
  EXPECT_THAT(path.units, ElementsAre(0));
}

TEST(Locality, AnEmptyBindingIsUnboundAndHasOnlyTheMachine) {
  const LocalityPath path = locate(test::make_kunpeng(), CpuSet());
  EXPECT_FALSE(path.bound);
  EXPECT_FALSE(path.resolved());
  EXPECT_THAT(path.units, ElementsAre(0));
}

TEST(Locality, CpusOfAnotherMachineAreNoBinding) {
  EXPECT_FALSE(locate(test::make_kunpeng(), CpuSet::range(1000, 1001)).bound);
}

TEST(Locality, SmtSiblingsHaveTheSamePath) {
  const Machine machine = test::make_hybrid();
  EXPECT_EQ(locate(machine, CpuSet::range(0, 0)).units, locate(machine, CpuSet::range(1, 1)).units);
  EXPECT_NE(locate(machine, CpuSet::range(1, 1)).units, locate(machine, CpuSet::range(2, 2)).units);
}

TEST(Locality, BranchesOfOneMachineMayHaveDifferentDepths) {
  const Machine machine = test::make_hybrid();
  EXPECT_EQ(locate(machine, CpuSet::range(0, 0)).units.size(), 2U);
  EXPECT_EQ(locate(machine, CpuSet::range(12, 12)).units.size(), 3U);
}

TEST(Locality, UnitAtDepthCountsFromTheMachine) {
  const Machine machine = test::make_kunpeng();
  const LocalityPath path = locate(machine, CpuSet::range(33, 33));
  EXPECT_EQ(path.unit_at_depth(0), 0);
  EXPECT_EQ(path.unit_at_depth(4), path.smallest());
  EXPECT_EQ(path.unit_at_depth(5), -1);
}

TEST(Locality, EnclosingUnitIsTheSmallestWithTheLabel) {
  const Machine machine = test::make_kunpeng();
  const LocalityPath path = locate(machine, CpuSet::range(33, 33));
  EXPECT_EQ(machine.units[enclosing_unit(machine, path, Level::kL3)].cpus.count(), 32U);
  EXPECT_EQ(enclosing_unit(machine, path, Level::kDie), -1);
}

TEST(Locality, ACoreIsNotSharedByCoresHoweverManyThreadsItHas) {
  const Machine machine = test::make_hybrid();
  EXPECT_FALSE(is_shared_by_cores(machine.units[locate(machine, CpuSet::range(0, 0)).smallest()]));
  EXPECT_TRUE(is_shared_by_cores(machine.units[locate(machine, CpuSet::range(12, 13)).smallest()]));
}

TEST(Locality, SharedDepthIsThatOfTheSmallestCommonUnit) {
  const Machine machine = test::make_kunpeng();
  const auto shared = [&](std::uint32_t a, std::uint32_t b) {
    return shared_depth(machine, locate(machine, CpuSet::range(a, a)).smallest(),
                        locate(machine, CpuSet::range(b, b)).smallest());
  };
  EXPECT_EQ(shared(0, 0), 4);
  EXPECT_EQ(shared(0, 3), 3);
  EXPECT_EQ(shared(3, 4), 2);
  EXPECT_EQ(shared(31, 32), 1);
  EXPECT_EQ(shared(63, 64), 0);
}

std::vector<std::string> bindings_of(const Machine& machine, Mapping mapping,
                                     std::uint32_t num_participants) {
  const std::vector<CpuSet> bindings = *map_participants(machine, mapping, num_participants);
  std::vector<std::string> texts;
  for (const CpuSet& binding : bindings) texts.push_back(binding.to_string());
  return texts;
}

// 2 packages of 2 cores of 2 threads: cpus 0,1 | 2,3 || 4,5 | 6,7.
Machine small_machine() {
  return test::make_machine("2 x 2 x 2",
                            {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kCore, 2}}, 2);
}

TEST(MapByCore, GoesThroughTheCoresAndThenToTheirNextThreads) {
  EXPECT_THAT(bindings_of(small_machine(), Mapping::kCore, 10),
              ElementsAre("0", "2", "4", "6", "1", "3", "5", "7", "0", "2"));
}

TEST(MapByCore, LeavesOutCpusThatAreNotAllowed) {
  Machine machine = small_machine();
  machine.allowed = *CpuSet::parse("3,4-5");
  EXPECT_THAT(bindings_of(machine, Mapping::kCore, 4), ElementsAre("3", "4", "3", "5"));
}

TEST(MapByNuma, TakesTheNodesInTurn) {
  EXPECT_THAT(bindings_of(small_machine(), Mapping::kNuma, 6),
              ElementsAre("0", "4", "2", "6", "1", "5"));
  EXPECT_THAT(bindings_of(test::make_kunpeng(), Mapping::kNuma, 6),
              ElementsAre("0", "32", "64", "96", "1", "33"));
}

TEST(MapByPackage, TakesThePackagesInTurn) {
  EXPECT_THAT(bindings_of(test::make_kunpeng(), Mapping::kPackage, 5),
              ElementsAre("0", "64", "1", "65", "2"));
}

TEST(MapByNuma, CoresOutsideEveryNodeAreAPlaceOfTheirOwn) {
  EXPECT_THAT(bindings_of(test::make_machine("no NUMA", {{Level::kPackage, 2}, {Level::kCore, 2}}),
                          Mapping::kNuma, 4),
              ElementsAre("0", "1", "2", "3"));
}

TEST(MapNone, BindsNobody) {
  EXPECT_THAT(bindings_of(small_machine(), Mapping::kNone, 2), ElementsAre("", ""));
}

TEST(Mapping, NeedsAnAllowedCpuUnlessNobodyIsBound) {
  Machine machine = small_machine();
  machine.allowed = CpuSet();
  EXPECT_FALSE(map_participants(machine, Mapping::kCore, 1).ok());
  EXPECT_TRUE(map_participants(machine, Mapping::kNone, 1).ok());
}

TEST(Mapping, NamesAreThoseOfTheCommand) {
  EXPECT_EQ(*parse_mapping("core"), Mapping::kCore);
  EXPECT_EQ(*parse_mapping("numa"), Mapping::kNuma);
  EXPECT_EQ(*parse_mapping("package"), Mapping::kPackage);
  EXPECT_EQ(*parse_mapping("none"), Mapping::kNone);
  EXPECT_FALSE(parse_mapping("cores").ok());
}

}  // namespace
}  // namespace hierbar

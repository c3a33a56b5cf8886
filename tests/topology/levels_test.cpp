// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/levels.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Levels, AreParsedFromTheirNamesInAnyCase) {
  for (int i = 0; i < kNumLevels; ++i) {
    const auto level = static_cast<Level>(i);
    EXPECT_EQ(parse_level(level_name(level)), level);
  }
  EXPECT_EQ(parse_level("NUMA"), Level::kNuma);
  EXPECT_EQ(parse_level("L3"), Level::kL3);
  EXPECT_EQ(parse_level("Socket"), Level::kPackage);
}

TEST(Levels, RejectOtherNames) {
  for (const char* name : {"", "l9", "l", "l33", "numa ", "sockets", "num\xc4"})
    EXPECT_EQ(parse_level(name), std::nullopt) << name;
}

TEST(Levels, HaveTheirBitsInLabels) { EXPECT_EQ(label_bits({Level::kCore, Level::kNuma}), 0b100001U); }

// The golden case of the paper: L3 and NUMA node are the same cores.
TEST(ActiveLevels, OfTheKunpeng920AreNumaAndPackage) {
  EXPECT_THAT(active_levels(test::make_kunpeng()), ElementsAre(Level::kNuma, Level::kPackage));
}

TEST(ActiveLevels, NeedAUnitThatTwoCoresShare) {
  test::MachineBuilder one_core;
  one_core.label(0, Level::kPackage);
  one_core.add_core(0, 4);
  EXPECT_THAT(active_levels(one_core.build("one core")), IsEmpty());
  // Every core has an L2 of its own, with two threads.
  EXPECT_THAT(active_levels(test::make_machine("", {{Level::kL3, 2}, {Level::kCore, 4}, {Level::kL2, 1}}, 2)),
              ElementsAre(Level::kL3));
}

TEST(ActiveLevels, CountALevelThatIsSharedInOnePartOfTheMachineOnly) {
  EXPECT_THAT(active_levels(test::make_hybrid()), ElementsAre(Level::kL2, Level::kNuma));
}

TEST(ActiveLevels, AreTheThreeOfAnEpycWithFourNodesPerPackage) {
  const Machine machine =
      test::make_machine("", {{Level::kPackage, 2}, {Level::kNuma, 4}, {Level::kL3, 2}, {Level::kCore, 8}, {Level::kL2, 1}}, 2);
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3, Level::kNuma, Level::kPackage));
}

TEST(ActiveLevels, KeepNumaOfEqualLevels) {
  EXPECT_THAT(
      active_levels(test::make_machine("", {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kL3, 1}, {Level::kCore, 4}})),
      ElementsAre(Level::kNuma));
}

TEST(ActiveLevels, KeepPackageRatherThanL3AndDie) {
  EXPECT_THAT(active_levels(test::make_machine("", {{Level::kPackage, 2}, {Level::kDie, 1}, {Level::kL3, 1}, {Level::kCore, 4}})),
              ElementsAre(Level::kPackage));
}

TEST(ActiveLevels, IncludeDiesThatNothingElseNames) {
  EXPECT_THAT(active_levels(test::make_machine("", {{Level::kPackage, 2}, {Level::kDie, 2}, {Level::kCore, 4}})),
              ElementsAre(Level::kDie, Level::kPackage));
}

TEST(ActiveLevels, AreOrderedByContainmentNotByName) {
  // Sub-NUMA clustering: two NUMA nodes in one L3.
  EXPECT_THAT(active_levels(test::make_machine("", {{Level::kL3, 2}, {Level::kNuma, 2}, {Level::kCore, 4}})),
              ElementsAre(Level::kNuma, Level::kL3));
  // One NUMA node for all packages.
  EXPECT_THAT(active_levels(test::make_machine("", {{Level::kNuma, 1}, {Level::kPackage, 4}, {Level::kCore, 2}})),
              ElementsAre(Level::kPackage, Level::kNuma));
}

TEST(ActiveLevels, SeeAllowedCoresOnly) {
  Machine machine = test::make_kunpeng();
  machine.allowed = CpuSet::range(0, 31);  // one NUMA node, so that its package divides the allowed cores alike
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kNuma));
  machine.allowed = *CpuSet::parse("0,32,64,96");  // one core of each node
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kPackage));
  machine.allowed = CpuSet::range(7, 7);
  EXPECT_THAT(active_levels(machine), IsEmpty());
  machine.allowed = CpuSet();
  EXPECT_THAT(active_levels(machine), IsEmpty());
}

TEST(ActiveLevels, CountACoreOfWhichOneThreadIsAllowed) {
  Machine machine = test::make_machine("", {{Level::kL3, 2}, {Level::kCore, 2}}, 2);
  machine.allowed = *CpuSet::parse("1,2");  // threads of two cores of the first L3
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3));
  machine.allowed = *CpuSet::parse("0-1");  // both threads of one core
  EXPECT_THAT(active_levels(machine), IsEmpty());
}

}  // namespace
}  // namespace hierbar

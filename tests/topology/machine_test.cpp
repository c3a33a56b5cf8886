// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

// Builds the tree and writes it as "machine(numa(core:0 core:1) core:2)"; "?" is a unit without a
// label.
class UnitTree : public testing::Test {
 protected:
  void set(const char* list, std::uint32_t labels = 0) {
    sets_.nested.push_back({cpus(list), labels});
  }
  void cores(std::initializer_list<const char*> lists) {
    for (const char* list : lists) set(list, label_bit(Level::kCore));
  }
  void numa(const char* list) { sets_.numa.push_back(cpus(list)); }

  std::string build(const char* present) {
    sets_.present = cpus(present);
    units_ = build_unit_tree(sets_, warnings_);
    return text(0);
  }

  std::string text(int index) const {
    const Unit& unit = units_[index];
    std::string result;
    for (int level = kNumLevels - 1; level >= 0; --level) {
      if (unit.has(static_cast<Level>(level)))
        result += (result.empty() ? "" : "+") + std::string(level_name(static_cast<Level>(level)));
    }
    if (result.empty()) result = "?";
    if (unit.has(Level::kCore)) result += ":" + unit.cpus.to_string();
    if (unit.children.empty()) return result;
    result += '(';
    for (const int child : unit.children)
      result += (child == unit.children.front() ? "" : " ") + text(child);
    return result + ')';
  }

  SharedSets sets_;
  std::vector<Unit> units_;
  std::vector<std::string> warnings_;
};

TEST_F(UnitTree, GivesEqualSetsOneUnitWithAllLabels) {
  set("0-3", label_bit(Level::kPackage));
  set("0-3", label_bit(Level::kL3));
  set("0-1", label_bit(Level::kL2));
  cores({"0-1", "2-3"});
  numa("0-3");
  EXPECT_EQ(build("0-3"), "machine+package+numa+l3(l2+core:0-1 core:2-3)");
}

TEST_F(UnitTree, MakesACoreOfEveryCpuWithout) {
  set("0-1", label_bit(Level::kCore));
  EXPECT_EQ(build("0-3"), "machine(core:0-1 core:2 core:3)");
}

TEST_F(UnitTree, OfOneCpuIsOneUnit) { EXPECT_EQ(build("7"), "machine+core:7"); }

TEST_F(UnitTree, OrdersChildrenByFirstCpuAndParentsFirst) {
  set("1,3", label_bit(Level::kPackage));
  set("0,2", label_bit(Level::kPackage));
  EXPECT_EQ(build("0-3"), "machine(package(core:0 core:2) package(core:1 core:3))");
  for (std::size_t i = 1; i < units_.size(); ++i) EXPECT_LT(units_[i].parent, static_cast<int>(i));
}

TEST_F(UnitTree, LeavesOutCpusThatAreNotPresent) {
  set("0-3", label_bit(Level::kPackage));
  set("4-7", label_bit(Level::kPackage));
  set("8-11", label_bit(Level::kPackage));
  numa("8-11");
  cores({"0-1", "2-3", "4-5", "6-7"});
  EXPECT_EQ(build("0-2,4-7"), "machine(package(core:0-1 core:2) package(core:4-5 core:6-7))");
}

TEST_F(UnitTree, IgnoresWhatLiesInsideACore) {
  cores({"0-3", "4-7"});
  set("0-1", label_bit(Level::kL2));
  numa("0-1");
  numa("2-3");
  EXPECT_EQ(build("0-7"), "machine(core:0-3 core:4-7)");
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(UnitTree, TakesNumaNodesFromTheirCpusWhateverElseIsThere) {
  set("0-3", label_bit(Level::kL3));
  set("4-7", label_bit(Level::kL3));
  numa("0-1");
  numa("2-3");
  numa("2-3");  // a second kind of memory beside the same cpus
  numa("");     // memory without cpus
  numa("4-7");
  EXPECT_EQ(
      build("0-7"),
      "machine(l3(numa(core:0 core:1) numa(core:2 core:3)) numa+l3(core:4 core:5 core:6 core:7))");
}

TEST_F(UnitTree, DropsANumaNodeThatCrossesAUnitAndSaysSo) {
  set("0-3", label_bit(Level::kL3));
  set("4-7", label_bit(Level::kL3));
  numa("0-1");
  numa("2-5");
  EXPECT_EQ(build("0-7"),
            "machine(l3(numa(core:0 core:1) core:2 core:3) l3(core:4 core:5 core:6 core:7))");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("2-5")));
}

TEST_F(UnitTree, DropsTheSecondOfTwoNumaNodesThatCross) {
  numa("0-2");
  numa("2-3");
  EXPECT_EQ(build("0-3"), "machine(numa(core:0 core:1 core:2) core:3)");
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(UnitTree, LeavesNumaToTheInnerNodesWhenTheyCoverTheOuter) {
  numa("0-3");
  numa("0-1");
  numa("2-3");
  set("0-3", label_bit(Level::kPackage));
  EXPECT_EQ(build("0-5"),
            "machine(package(numa(core:0 core:1) numa(core:2 core:3)) core:4 core:5)");
}

TEST_F(UnitTree, LeavesNumaToTheOuterNodeWhenTheInnerOnesDoNotCoverIt) {
  numa("0-3");
  numa("0-1");
  EXPECT_EQ(build("0-5"), "machine(numa(?(core:0 core:1) core:2 core:3) core:4 core:5)");
}

TEST_F(UnitTree, SettlesThreeNestedNodes) {
  numa("0-7");
  numa("0-3");  // covered by the two below
  numa("0-1");
  numa("2-3");
  EXPECT_EQ(build("0-7"),
            "machine+numa(?(?(core:0 core:1) ?(core:2 core:3)) core:4 core:5 core:6 core:7)");
}

TEST_F(UnitTree, NamesAGroupInsideAnL3ACluster) {
  set("0-7", label_bit(Level::kL3));
  set("0-3");
  set("4-7");
  EXPECT_EQ(
      build("0-7"),
      "machine+l3(cluster(core:0 core:1 core:2 core:3) cluster(core:4 core:5 core:6 core:7))");
}

TEST_F(UnitTree, LeavesOtherGroupsUnnamed) {
  set("0-3");  // around L3s
  set("0-1", label_bit(Level::kL3));
  set("2-3", label_bit(Level::kL3));
  set("4-7", label_bit(Level::kL3));
  set("4-5");  // beside a NUMA node inside an L3, and around one
  numa("4-5");
  set("6-7");
  EXPECT_EQ(build("0-7"),
            "machine(?(l3(core:0 core:1) l3(core:2 core:3)) l3(numa(core:4 core:5) cluster(core:6 "
            "core:7)))");
}

TEST_F(UnitTree, DropsGroupsOfOneCore) {
  cores({"0-1", "2-3"});
  set("0-1");
  EXPECT_EQ(build("0-3"), "machine(core:0-1 core:2-3)");
}

TEST(Machine, FindsTheSmallestUnitAroundCpus) {
  const Machine machine = test::make_kunpeng();
  const auto smallest = [&](std::uint32_t a, std::uint32_t b) -> const Unit& {
    return machine
        .units[machine.smallest_unit_containing(CpuSet::range(a, a) | CpuSet::range(b, b))];
  };
  EXPECT_TRUE(smallest(5, 5).has(Level::kCore));
  EXPECT_TRUE(smallest(4, 7).has(Level::kCluster));
  EXPECT_TRUE(smallest(0, 31).has(Level::kNuma));
  EXPECT_TRUE(smallest(0, 63).has(Level::kPackage));
  EXPECT_TRUE(smallest(63, 64).has(Level::kMachine));
}

TEST(Machine, IgnoresCpusThatItDoesNotHave) {
  const Machine machine = test::make_kunpeng();
  const CpuSet partly_absent = CpuSet::range(127, 1000);
  EXPECT_TRUE(machine.units[machine.smallest_unit_containing(partly_absent)].has(Level::kCore));
  EXPECT_EQ(machine.smallest_unit_containing(CpuSet::range(128, 1000)), -1);
  EXPECT_EQ(machine.smallest_unit_containing(CpuSet()), -1);
}

TEST(Machine, PicksOneCpuOfEveryCoreThatHasOne) {
  const Machine machine = test::make_hybrid();  // cpus 0-11 are six cores, 12-19 are eight
  EXPECT_EQ(machine.one_cpu_per_core(machine.present).to_string(), "0,2,4,6,8,10,12-19");
  EXPECT_EQ(machine.one_cpu_per_core(*CpuSet::parse("1,4-5,13")).to_string(), "1,4,13");
  EXPECT_TRUE(machine.one_cpu_per_core(CpuSet()).empty());
}

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

TEST(Levels, HaveTheirBitsInLabels) {
  EXPECT_EQ(label_bits({Level::kCore, Level::kNuma}), 0b100001U);
}

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
  EXPECT_THAT(active_levels(
                  test::make_machine("", {{Level::kL3, 2}, {Level::kCore, 4}, {Level::kL2, 1}}, 2)),
              ElementsAre(Level::kL3));
}

TEST(ActiveLevels, CountALevelThatIsSharedInOnePartOfTheMachineOnly) {
  EXPECT_THAT(active_levels(test::make_hybrid()), ElementsAre(Level::kL2, Level::kNuma));
}

TEST(ActiveLevels, AreTheThreeOfAnEpycWithFourNodesPerPackage) {
  const Machine machine = test::make_machine("",
                                             {{Level::kPackage, 2},
                                              {Level::kNuma, 4},
                                              {Level::kL3, 2},
                                              {Level::kCore, 8},
                                              {Level::kL2, 1}},
                                             2);
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3, Level::kNuma, Level::kPackage));
}

TEST(ActiveLevels, KeepNumaOfEqualLevels) {
  EXPECT_THAT(
      active_levels(test::make_machine(
          "", {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kL3, 1}, {Level::kCore, 4}})),
      ElementsAre(Level::kNuma));
}

TEST(ActiveLevels, KeepPackageRatherThanL3AndDie) {
  EXPECT_THAT(
      active_levels(test::make_machine(
          "", {{Level::kPackage, 2}, {Level::kDie, 1}, {Level::kL3, 1}, {Level::kCore, 4}})),
      ElementsAre(Level::kPackage));
}

TEST(ActiveLevels, IncludeDiesThatNothingElseNames) {
  EXPECT_THAT(active_levels(test::make_machine(
                  "", {{Level::kPackage, 2}, {Level::kDie, 2}, {Level::kCore, 4}})),
              ElementsAre(Level::kDie, Level::kPackage));
}

TEST(ActiveLevels, AreOrderedByContainmentNotByName) {
  // Sub-NUMA clustering: two NUMA nodes in one L3.
  EXPECT_THAT(active_levels(
                  test::make_machine("", {{Level::kL3, 2}, {Level::kNuma, 2}, {Level::kCore, 4}})),
              ElementsAre(Level::kNuma, Level::kL3));
  // One NUMA node for all packages.
  EXPECT_THAT(active_levels(test::make_machine(
                  "", {{Level::kNuma, 1}, {Level::kPackage, 4}, {Level::kCore, 2}})),
              ElementsAre(Level::kPackage, Level::kNuma));
}

TEST(ActiveLevels, SeeAllowedCoresOnly) {
  Machine machine = test::make_kunpeng();
  machine.allowed =
      CpuSet::range(0, 31);  // one NUMA node, so that its package divides the allowed cores alike
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

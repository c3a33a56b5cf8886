// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What holds for every machine, and what is known about those that a description makes.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>

#include "tests/topology/known_topologies.hpp"
#include "tests/topology/machine_checks.hpp"
#include "topology/export/machine_text.hpp"

namespace hierbar {
namespace {

using test::count;
using test::load;
using test::units_of;
using testing::Each;
using testing::ElementsAre;

class EveryMachine : public testing::TestWithParam<test::KnownTopology> {
 protected:
  void SetUp() override {
    if (GetParam().recorded) HIERBAR_NEED_RECORDED(GetParam().description);
    machine = load(GetParam().description);
    ASSERT_FALSE(machine.units.empty());
  }
  Machine machine;
};

TEST_P(EveryMachine, IsATreeWithParentsFirst) {
  const std::vector<Unit>& units = machine.units;
  EXPECT_EQ(units[0].parent, -1);
  EXPECT_EQ(units[0].depth, 0);
  std::size_t num_children = 0;
  for (int i = 0; i < static_cast<int>(units.size()); ++i) {
    for (const int child : units[i].children) {
      EXPECT_GT(child, i);
      EXPECT_EQ(units[child].parent, i);
      EXPECT_EQ(units[child].depth, units[i].depth + 1);
      ++num_children;
    }
  }
  EXPECT_EQ(num_children, units.size() - 1);
}

TEST_P(EveryMachine, HasChildrenThatDivideTheirParent) {
  for (const Unit& unit : machine.units) {
    ASSERT_FALSE(unit.cpus.empty());
    CpuSet seen;
    int previous_first = -1;
    for (const int child : unit.children) {
      const CpuSet& cpus = machine.units[child].cpus;
      EXPECT_TRUE(cpus.is_subset_of(unit.cpus));
      EXPECT_NE(cpus, unit.cpus);
      EXPECT_FALSE(cpus.intersects(seen));
      EXPECT_GT(cpus.first(), previous_first);
      previous_first = cpus.first();
      seen |= cpus;
    }
    if (!unit.children.empty()) {
      EXPECT_EQ(seen, unit.cpus) << "a cpu without a core";
    }
  }
}

TEST_P(EveryMachine, HasEveryPresentCpuInExactlyOneCoreAndCoresAreTheLeaves) {
  CpuSet in_cores;
  for (const Unit& unit : machine.units) {
    EXPECT_EQ(unit.has(Level::kCore), unit.children.empty());
    if (!unit.has(Level::kCore)) continue;
    EXPECT_FALSE(unit.cpus.intersects(in_cores));
    in_cores |= unit.cpus;
  }
  EXPECT_EQ(in_cores, machine.present);
  EXPECT_EQ(machine.units[0].cpus, machine.present);
}

TEST_P(EveryMachine, HasEachLabelOncePerPathAndMachineOnlyAtTheTop) {
  std::vector<std::uint32_t> labels_above(machine.units.size(), 0);
  for (std::size_t i = 1; i < machine.units.size(); ++i) {
    const int parent = machine.units[i].parent;
    labels_above[i] = labels_above[parent] | machine.units[parent].labels;
    EXPECT_EQ(labels_above[i] & machine.units[i].labels, 0U) << "unit " << i;
  }
  EXPECT_TRUE(machine.units[0].has(Level::kMachine));
}

TEST_P(EveryMachine, AllowsSomeOfItsCpus) {
  EXPECT_FALSE(machine.allowed.empty());
  EXPECT_TRUE(machine.allowed.is_subset_of(machine.present));
}

TEST_P(EveryMachine, HasALineThatIsAPowerOfTwo) {
  EXPECT_GE(machine.line_bytes, 32U);
  EXPECT_TRUE(std::has_single_bit(machine.line_bytes));
}

TEST_P(EveryMachine, LocatesEveryUnitByItsOwnCpus) {
  for (std::size_t i = 0; i < machine.units.size(); ++i) {
    EXPECT_EQ(machine.smallest_unit_containing(machine.units[i].cpus), static_cast<int>(i));
  }
}

TEST_P(EveryMachine, HasActiveLevelsOfDifferentUnitsFromSmallToLarge) {
  std::uint32_t largest_before = 0;
  const CpuSet cores = machine.one_cpu_per_core(machine.allowed);
  for (const Level level : active_levels(machine)) {
    std::uint32_t largest = 0;
    for (const Unit& unit : machine.units) {
      if (unit.has(level)) largest = std::max(largest, (unit.cpus & cores).count());
    }
    EXPECT_GE(largest, 2U) << level_name(level);
    EXPECT_GE(largest, largest_before) << level_name(level);
    largest_before = largest;
  }
}

TEST_P(EveryMachine, FitsOnAScreen) {
  const std::vector<std::string> lines = describe(machine, Detail::kCollapsed);
  EXPECT_LE(lines.size(), 24U);
  EXPECT_THAT(lines, Each(testing::SizeIs(testing::Le(120U))));
}

INSTANTIATE_TEST_SUITE_P(, EveryMachine, testing::ValuesIn(test::known_topologies()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(SyntheticMachine, KunpengIsThatOfThePaper) { test::expect_kunpeng(load(test::kKunpeng)); }

TEST(SyntheticMachine, TurinHasManyL3s) {
  const Machine machine = load(test::kTurin);
  EXPECT_EQ(machine.present.count(), 512U);
  EXPECT_EQ(count(machine, Level::kL3), units_of(32, 8));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(2, 128));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3, Level::kNuma));
}

TEST(SyntheticMachine, A64fxHasAnL2PerNumaNodeAndNoL3) {
  const Machine machine = load(test::kA64fx);
  EXPECT_EQ(count(machine, Level::kL2), units_of(4, 12));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(4, 12));
  EXPECT_EQ(machine.l3_bytes, 0U);
  EXPECT_EQ(machine.line_bytes, 64U);
}

TEST(SyntheticMachine, MilanHasTwoL3sPerNumaNode) {
  const Machine machine = load(test::kMilanNps4);
  EXPECT_EQ(count(machine, Level::kL3), units_of(16, 8));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(8, 16));
  EXPECT_EQ(count(machine, Level::kCluster).first, 0);
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3, Level::kNuma, Level::kPackage));
}

TEST(SyntheticMachine, MayHaveMoreThan1024Cpus) {
  const Machine machine = load(test::k2048Cpus);
  EXPECT_EQ(machine.present, CpuSet::range(0, 2047));
  EXPECT_EQ(count(machine, Level::kCore), units_of(2048, 1));
  EXPECT_TRUE(machine.units[machine.smallest_unit_containing(CpuSet::range(2000, 2001))].has(Level::kL3));
}

TEST(SyntheticMachine, MayNumberItsCpusAcrossPackages) {
  const Machine machine = load("pack:2 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)");
  const Unit& package = machine.units[machine.units[0].children[0]];
  EXPECT_EQ(package.cpus.to_string(), "0,2,4,6");
  EXPECT_EQ(machine.units[package.children[1]].cpus.to_string(), "2,6");
}

}  // namespace
}  // namespace hierbar

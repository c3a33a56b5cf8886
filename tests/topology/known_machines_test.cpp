// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What holds for every machine, and what is known about those that a description makes and those
// that have been recorded.

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "tests/topology/known_topologies.hpp"
#include "topology/export/machine_text.hpp"
#include "topology/load.hpp"
#include "topology/machine.hpp"

namespace hierbar::test {

// What tests of particular machines ask of them.

inline Machine load(const std::string& description) {
  Result<Machine> machine = load_described_machine(description);
  EXPECT_TRUE(machine.ok()) << (machine.ok() ? "" : machine.error());
  return machine.ok() ? *std::move(machine) : Machine{};
}

// Number of units with the label, and of cores in each of them if that is the same for all, else 0.
inline std::pair<int, int> count(const Machine& machine, Level level) {
  const CpuSet cores = machine.one_cpu_per_core(machine.present);
  int num_units = 0;
  int size = -1;
  for (const Unit& unit : machine.units) {
    if (!unit.has(level)) continue;
    const int num_cores = static_cast<int>((unit.cpus & cores).count());
    size = size == -1 || size == num_cores ? num_cores : 0;
    ++num_units;
  }
  return {num_units, size};
}

inline std::pair<int, int> units_of(int num_units, int num_cores) { return {num_units, num_cores}; }

inline void expect_kunpeng(const Machine& machine) {
  EXPECT_EQ(count(machine, Level::kCore), units_of(128, 1));
  EXPECT_EQ(count(machine, Level::kCluster), units_of(32, 4));
  EXPECT_EQ(count(machine, Level::kL3), units_of(4, 32));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(4, 32));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(2, 64));
  EXPECT_THAT(active_levels(machine), testing::ElementsAre(Level::kNuma, Level::kPackage));
}

}  // namespace hierbar::test

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
  EXPECT_TRUE(
      machine.units[machine.smallest_unit_containing(CpuSet::range(2000, 2001))].has(Level::kL3));
}

TEST(SyntheticMachine, MayNumberItsCpusAcrossPackages) {
  const Machine machine = load("pack:2 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)");
  const Unit& package = machine.units[machine.units[0].children[0]];
  EXPECT_EQ(package.cpus.to_string(), "0,2,4,6");
  EXPECT_EQ(machine.units[package.children[1]].cpus.to_string(), "2,6");
}

// The cpus of each unit with the label.
std::vector<std::string> sets(const Machine& machine, Level level) {
  std::vector<std::string> texts;
  for (const Unit& unit : machine.units) {
    if (unit.has(level)) texts.push_back(unit.cpus.to_string());
  }
  return texts;
}

std::string core_of(const Machine& machine, std::uint32_t cpu) {
  return machine.units[machine.smallest_unit_containing(CpuSet::range(cpu, cpu))].cpus.to_string();
}

// What the tests below expect is what hwloc's own expected outputs of these recordings say, and the
// makers' data sheets.
#define LOAD_RECORDED(name)                               \
  const std::string path = test::recorded_topology(name); \
  HIERBAR_NEED_RECORDED(path);                            \
  const Machine machine = test::load(path)

TEST(RecordedMachine, KunpengIsThatOfThePaperWithLinesOf128Bytes) {
  LOAD_RECORDED("128arm-2pa2n8cluster4co");
  test::expect_kunpeng(machine);
  EXPECT_EQ(machine.line_bytes, 128U);
  EXPECT_EQ(machine.l3_bytes, 32U << 20);
}

TEST(RecordedMachine, NaplesHasTwoL3sOfThreeCoresPerNumaNode) {
  LOAD_RECORDED("AMD-17h-Zen-2xEpyc-7451");
  EXPECT_EQ(machine.present.count(), 96U);
  EXPECT_EQ(count(machine, Level::kL3), units_of(16, 3));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(8, 6));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(2, 24));
  EXPECT_EQ(core_of(machine, 3), "3,51");
  EXPECT_EQ(machine.l3_bytes, 8U << 20);
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3, Level::kNuma, Level::kPackage));
}

TEST(RecordedMachine, MilanHasEightL3sPerPackageThatIsANumaNode) {
  LOAD_RECORDED("AMD-19h-Zen3-2xEpyc-7763");
  EXPECT_EQ(machine.present, CpuSet::range(0, 127));
  EXPECT_EQ(count(machine, Level::kL3), units_of(16, 8));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(2, 64));
  EXPECT_EQ(machine.l3_bytes, 32U << 20);
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3, Level::kNuma));
}

TEST(RecordedMachine, HaswellHasTwoL3sOfSixCoresPerPackage) {
  LOAD_RECORDED("Intel-Haswell-2xXeon-E5-2680v3");
  EXPECT_EQ(count(machine, Level::kL3), units_of(4, 6));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(2, 12));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3, Level::kPackage, Level::kNuma));
}

TEST(RecordedMachine, KnightsCornerHas61CoresOfFourThreadsAndNothingBetween) {
  LOAD_RECORDED("Intel-KnightsCorner-XeonPhi-SE10P");
  EXPECT_EQ(count(machine, Level::kCore), units_of(61, 1));
  EXPECT_EQ(machine.present.count(), 244U);
  EXPECT_EQ(machine.l3_bytes, 0U);
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kNuma));
}

TEST(RecordedMachine, InterlagosHasPairsOfCoresThatShareAnL2) {
  LOAD_RECORDED("64amd64-4s2n4ca2co");
  EXPECT_EQ(count(machine, Level::kL2), units_of(32, 2));
  EXPECT_EQ(count(machine, Level::kL3), units_of(8, 8));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(8, 8));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(4, 16));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL2, Level::kNuma, Level::kPackage));
}

TEST(RecordedMachine, DunningtonHasSeveralPackagesPerNumaNode) {
  LOAD_RECORDED("96em64t-4n4d3ca2co");
  EXPECT_EQ(count(machine, Level::kL2), units_of(48, 2));
  EXPECT_EQ(count(machine, Level::kL3), units_of(16, 6));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(16, 6));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(4, 24));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL2, Level::kPackage, Level::kNuma));
}

TEST(RecordedMachine, Power9HasPairsOfCoresOfFourThreads) {
  LOAD_RECORDED("nvidiagpunumanodes");
  EXPECT_EQ(count(machine, Level::kL3), units_of(4, 2));
  EXPECT_EQ(count(machine, Level::kL2), units_of(4, 2));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(2, 4)) << "memory of GPUs is none of the cpus'";
  EXPECT_EQ(machine.present.count(), 32U);
  EXPECT_EQ(machine.l3_bytes, 10U << 20);
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL3, Level::kNuma));
}

TEST(RecordedMachine, Power7HasPackagesOfOneCoreAndLinesOf128Bytes) {
  LOAD_RECORDED("256ppc-8n8s4t");
  EXPECT_EQ(machine.present.count(), 256U);
  EXPECT_EQ(count(machine, Level::kPackage), units_of(64, 1));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(8, 8));
  EXPECT_EQ(core_of(machine, 6), "4-7");
  EXPECT_EQ(machine.line_bytes, 128U);
}

TEST(RecordedMachine, ItaniumsWithoutCachesHavePackagesInNumaNodes) {
  LOAD_RECORDED("256ia64-64n2s2c");
  EXPECT_EQ(count(machine, Level::kCore), units_of(256, 1));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(128, 2));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(64, 4));
  EXPECT_EQ(machine.l3_bytes, 0U);
}

TEST(RecordedMachine, ANumaNodeWithoutCpusIsNone) {
  LOAD_RECORDED("128ia64-17n4s2c");
  EXPECT_EQ(count(machine, Level::kNuma), units_of(16, 8));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(64, 2));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kPackage, Level::kNuma));
}

TEST(RecordedMachine, MainframeHasPackagesOfOneToFourCores) {
  LOAD_RECORDED("20s390-2g6s4c");
  EXPECT_EQ(count(machine, Level::kCore), units_of(20, 1));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(8, 0));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(1, 20));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kPackage, Level::kNuma));
}

TEST(RecordedMachine, HybridHasASharedL2OnOneSideOnly) {
  LOAD_RECORDED("5intel64-hybrid-lakefield");
  EXPECT_EQ(count(machine, Level::kCore), units_of(5, 1));
  EXPECT_THAT(sets(machine, Level::kL2), ElementsAre("0-3", "4"));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL2, Level::kNuma));
}

TEST(RecordedMachine, CoresOfOnePackageMayShareAnL2OrHaveNone) {
  LOAD_RECORDED("8em64t-2s4c-heterogeneous");
  EXPECT_EQ(count(machine, Level::kL2), units_of(3, 2));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(2, 4));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL2, Level::kPackage, Level::kNuma));
}

TEST(RecordedMachine, NumaNodesMayBeSmallerThanAnL3OfADie) {
  LOAD_RECORDED("fakecpuid1f-64intel64-2p4d2n2c2t");
  EXPECT_EQ(machine.present.count(), 64U);
  EXPECT_EQ(count(machine, Level::kNuma), units_of(16, 2));
  EXPECT_EQ(count(machine, Level::kL3), units_of(8, 4));
  EXPECT_EQ(count(machine, Level::kDie), units_of(8, 4));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(4, 8));
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kNuma, Level::kL3, Level::kPackage));
}

// Of nodes inside each other the outer one counts where the inner ones do not cover it.
TEST(RecordedMachine, NumaNodesMayContainEachOther) {
  LOAD_RECORDED("fakeheterocpunuma");
  EXPECT_THAT(sets(machine, Level::kNuma), ElementsAre("0-3", "8-11", "12-23"));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(2, 6));
}

// A core is near the memory of its half of the package and near the package's. The halves cover the
// package, so they are what counts. Nodes without memory are at the same cpus.
TEST(RecordedMachine, ACoreMayHaveSeveralMemories) {
  LOAD_RECORDED("fakememinitiators-1np2c+1npp+gi");
  EXPECT_THAT(sets(machine, Level::kNuma), ElementsAre("0-1", "4-5", "2-3", "6-7"));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(2, 4));
}

TEST(RecordedMachine, NumaNodesBehindMemorySideCachesAreFound) {
  LOAD_RECORDED("64intel64-fakeKNL-SNC4-hybrid");
  EXPECT_EQ(count(machine, Level::kNuma), units_of(4, 4));
  EXPECT_EQ(count(machine, Level::kL2), units_of(8, 2));
  EXPECT_EQ(machine.l3_bytes, 0U) << "a cache of memory is no L3";
  EXPECT_THAT(active_levels(machine), ElementsAre(Level::kL2, Level::kNuma, Level::kPackage));
}

TEST(RecordedMachine, OfflineCpusAreNotPresent) {
  LOAD_RECORDED("16em64t-4s2c2t-offlines");
  EXPECT_EQ(machine.present.to_string(), "0-1,3-4,6-12,15");
  EXPECT_EQ(machine.allowed, machine.present);
}

TEST(RecordedMachine, APackageMayBeWithoutMemory) {
  LOAD_RECORDED("offline-cpu0-node0");
  EXPECT_EQ(machine.present, CpuSet::range(4, 20));
  EXPECT_THAT(sets(machine, Level::kPackage),
              ElementsAre("4,6,8,10,12,14,16,18,20", "5,7,9,11,13,15,17,19"));
  EXPECT_THAT(sets(machine, Level::kNuma), ElementsAre("5,7,9,11,13,15,17,19"));
}

TEST(RecordedMachine, DisallowedCpusArePresentButNotAllowed) {
  LOAD_RECORDED("32amd64-4s2n4c-cgroup2");
  EXPECT_EQ(machine.present.count(), 32U);
  EXPECT_EQ(machine.allowed.to_string(), "0-5");
}

TEST(RecordedMachine, SomePackagesMayBeInPairsAndOthersAlone) {
  LOAD_RECORDED("64intel64-3g2n+2n-irregulargroups+pci");
  EXPECT_EQ(count(machine, Level::kPackage), units_of(8, 8));
  EXPECT_EQ(machine.allowed, CpuSet::range(0, 15));
  EXPECT_EQ(machine.units[machine.smallest_unit_containing(CpuSet::range(55, 56))].cpus,
            machine.present);
  EXPECT_EQ(machine.units[machine.smallest_unit_containing(CpuSet::range(47, 48))].cpus,
            CpuSet::range(40, 55));
}

}  // namespace
}  // namespace hierbar

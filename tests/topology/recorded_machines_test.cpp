// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known about machines that have been recorded.
#include <gmock/gmock.h>

#include "tests/topology/known_topologies.hpp"
#include "tests/topology/machine_checks.hpp"

namespace hierbar {
namespace {

using test::count;
using test::units_of;
using testing::ElementsAre;

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
  EXPECT_THAT(sets(machine, Level::kPackage), ElementsAre("4,6,8,10,12,14,16,18,20", "5,7,9,11,13,15,17,19"));
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
  EXPECT_EQ(machine.units[machine.smallest_unit_containing(CpuSet::range(55, 56))].cpus, machine.present);
  EXPECT_EQ(machine.units[machine.smallest_unit_containing(CpuSet::range(47, 48))].cpus, CpuSet::range(40, 55));
}

}  // namespace
}  // namespace hierbar

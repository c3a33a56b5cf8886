// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/mapping.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> bindings_of(const Machine& machine, Mapping mapping, std::uint32_t num_participants) {
  const std::vector<CpuSet> bindings = *map_participants(machine, mapping, num_participants);
  std::vector<std::string> texts;
  for (const CpuSet& binding : bindings) texts.push_back(binding.to_string());
  return texts;
}

// 2 packages of 2 cores of 2 threads: cpus 0,1 | 2,3 || 4,5 | 6,7.
Machine small_machine() {
  return test::make_machine("2 x 2 x 2", {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kCore, 2}}, 2);
}

TEST(MapByCore, GoesThroughTheCoresAndThenToTheirNextThreads) {
  EXPECT_THAT(bindings_of(small_machine(), Mapping::kCore, 10), ElementsAre("0", "2", "4", "6", "1", "3", "5", "7", "0", "2"));
}

TEST(MapByCore, LeavesOutCpusThatAreNotAllowed) {
  Machine machine = small_machine();
  machine.allowed = *CpuSet::parse("3,4-5");
  EXPECT_THAT(bindings_of(machine, Mapping::kCore, 4), ElementsAre("3", "4", "3", "5"));
}

TEST(MapByNuma, TakesTheNodesInTurn) {
  EXPECT_THAT(bindings_of(small_machine(), Mapping::kNuma, 6), ElementsAre("0", "4", "2", "6", "1", "5"));
  EXPECT_THAT(bindings_of(test::make_kunpeng(), Mapping::kNuma, 6), ElementsAre("0", "32", "64", "96", "1", "33"));
}

TEST(MapByPackage, TakesThePackagesInTurn) {
  EXPECT_THAT(bindings_of(test::make_kunpeng(), Mapping::kPackage, 5), ElementsAre("0", "64", "1", "65", "2"));
}

TEST(MapByNuma, CoresOutsideEveryNodeAreAPlaceOfTheirOwn) {
  EXPECT_THAT(bindings_of(test::make_machine("no NUMA", {{Level::kPackage, 2}, {Level::kCore, 2}}), Mapping::kNuma, 4),
              ElementsAre("0", "1", "2", "3"));
}

TEST(MapNone, BindsNobody) { EXPECT_THAT(bindings_of(small_machine(), Mapping::kNone, 2), ElementsAre("", "")); }

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

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/cpu_pairs.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> names_of(const std::vector<PairClass>& classes) {
  std::vector<std::string> names;
  for (const PairClass& pair_class : classes) names.push_back(pair_class.name);
  return names;
}

std::vector<std::string> labels_of(const Unit& unit) {
  std::vector<std::string> names;
  for (int i = 0; i < kNumLevels; ++i) {
    if (unit.has(static_cast<Level>(i))) names.emplace_back(level_name(static_cast<Level>(i)));
  }
  return names;
}

const Machine& with_smt() {
  static const Machine machine =
      test::make_machine("2 x EPYC 7742", {{Level::kPackage, 2}, {Level::kNuma, 1}, {Level::kL3, 16}, {Level::kCore, 4}}, 2);
  return machine;
}

TEST(CpuPairs, ClassesAreNearestFirst) {
  EXPECT_THAT(names_of(sample_pairs(test::make_kunpeng(), 8)), ElementsAre("cluster", "l3", "package", "machine"));
  EXPECT_THAT(names_of(sample_pairs(with_smt(), 8)), ElementsAre("core", "l3", "numa", "machine"));
}

TEST(CpuPairs, AreAsFarApartAsTheirClassSays) {
  for (const Machine& machine : {test::make_kunpeng(), with_smt(), test::make_hybrid(), test::make_partial_l3()}) {
    for (const PairClass& pair_class : sample_pairs(machine, 8)) {
      EXPECT_THAT(pair_class.pairs, ::testing::Not(IsEmpty()));
      for (const auto& [a, b] : pair_class.pairs) {
        EXPECT_LT(a, b);
        CpuSet both;
        both.set(a);
        both.set(b);
        const Unit& unit = machine.units[machine.smallest_unit_containing(both)];
        if (pair_class.name == "core") {
          EXPECT_THAT(unit.children, IsEmpty());
        } else {
          EXPECT_THAT(labels_of(unit), ::testing::Contains(pair_class.name));
        }
      }
    }
  }
}

TEST(CpuPairs, AreSpreadOverTheUnitsOfAClass) {
  std::set<std::uint32_t> domains;
  const std::vector<PairClass> classes = sample_pairs(with_smt(), 8);
  for (const CpuPair& pair : classes[1].pairs) domains.insert(pair.first / 8);
  EXPECT_THAT(domains, SizeIs(8)) << "8 pairs inside an L3 are in 8 of the 32";
}

TEST(CpuPairs, AreEachTakenOnceAndNoMoreThanWanted) {
  for (const PairClass& pair_class : sample_pairs(with_smt(), 5)) EXPECT_THAT(pair_class.pairs, SizeIs(5)) << pair_class.name;
  const std::vector<PairClass> two_cpus = sample_pairs(test::make_machine("two", {{Level::kCore, 2}}), 8);
  ASSERT_THAT(two_cpus, SizeIs(1));
  EXPECT_THAT(two_cpus[0].pairs, ElementsAre(CpuPair(0, 1)));
}

TEST(CpuPairs, OnlyAllowedCpusCount) {
  Machine machine = with_smt();
  machine.allowed = CpuSet::range(4, 11);
  for (const PairClass& pair_class : sample_pairs(machine, 8)) {
    for (const auto& [a, b] : pair_class.pairs) {
      EXPECT_GE(a, 4U);
      EXPECT_LE(b, 11U);
    }
  }
  machine.allowed = CpuSet::range(4, 4);
  EXPECT_THAT(sample_pairs(machine, 8), IsEmpty());
}

TEST(CpuPairs, EqualMachinesGiveEqualPairs) {
  const auto first = sample_pairs(test::make_kunpeng(), 8);
  const auto again = sample_pairs(test::make_kunpeng(), 8);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].pairs, again[i].pairs);
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/cpu_set.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CpuSet parsed(std::string_view list) {
  Result<CpuSet> set = CpuSet::parse(list);
  EXPECT_TRUE(set.ok()) << list;
  return set.ok() ? *set : CpuSet();
}

TEST(CpuSet, StartsEmpty) {
  const CpuSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.count(), 0U);
  EXPECT_EQ(set.first(), -1);
  EXPECT_EQ(set.last(), -1);
  EXPECT_EQ(set.begin(), set.end());
  EXPECT_EQ(set.to_string(), "");
}

TEST(CpuSet, HoldsCpusBeyondTheLimitOfTheSystemsOwnSets) {
  CpuSet set;
  set.set(1024);
  set.set(70000);
  EXPECT_TRUE(set.test(1024));
  EXPECT_TRUE(set.test(70000));
  EXPECT_FALSE(set.test(1023));
  EXPECT_FALSE(set.test(1000000));
  EXPECT_EQ(set.count(), 2U);
  EXPECT_EQ(set.last(), 70000);
}

TEST(CpuSet, IteratesInAscendingOrder) {
  EXPECT_THAT(parsed("130,0,63-65"), ElementsAre(0, 63, 64, 65, 130));
}

TEST(CpuSet, PrintsTheKernelsListFormat) {
  EXPECT_EQ(parsed("8,0-3").to_string(), "0-3,8");
  EXPECT_EQ(parsed("5,4").to_string(), "4-5");
  EXPECT_EQ(CpuSet::range(60, 130).to_string(), "60-130");
}

TEST(CpuSet, ParsesWhatItPrints) {
  for (const char* list : {"", "0", "0-3,8", "1,3,5", "63-64", "0-2047", "4095"})
    EXPECT_EQ(parsed(list).to_string(), list);
}

TEST(CpuSet, RejectsMalformedLists) {
  for (const char* list : {"a", "1,", ",1", "1-", "-1", "3-1", "1 2", "1,,2", "0x3", "1-2-3",
                           "99999999", "0-99999999999"}) {
    const Result<CpuSet> set = CpuSet::parse(list);
    ASSERT_FALSE(set.ok()) << list;
    EXPECT_THAT(set.error(), HasSubstr(list));
  }
}

TEST(CpuSet, IsMadeFromWordsAndShowsThem) {
  const std::uint64_t bits[] = {1, 0, 0x8000000000000000U, 0};
  const CpuSet set(bits, 4);
  EXPECT_THAT(set, ElementsAre(0, 191));
  EXPECT_THAT(set.words(), ElementsAre(1, 0, 0x8000000000000000U));
  EXPECT_TRUE(CpuSet(nullptr, 0).empty());
}

TEST(CpuSet, ComparesMembersNotCapacity) {
  CpuSet shrunk = CpuSet::range(0, 300);
  shrunk &= CpuSet::range(0, 3);
  CpuSet one_removed = CpuSet::range(0, 4);
  one_removed.set(500);
  one_removed.reset(500);
  one_removed.reset(4);
  one_removed.reset(9999);
  EXPECT_EQ(shrunk, CpuSet::range(0, 3));
  EXPECT_EQ(one_removed, CpuSet::range(0, 3));
  EXPECT_EQ(CpuSet::range(0, 200) - CpuSet::range(4, 200), CpuSet::range(0, 3));
}

TEST(CpuSet, OrdersByFirstCpu) {
  std::vector<CpuSet> sets = {parsed("64-70"), parsed("3,100"), parsed(""), parsed("1-2")};
  std::sort(sets.begin(), sets.end());
  EXPECT_THAT(sets, ElementsAre(parsed(""), parsed("1-2"), parsed("3,100"), parsed("64-70")));
}

TEST(CpuSet, OrdersDifferentSetsStrictly) {
  const CpuSet a = parsed("0-3");
  const CpuSet b = parsed("0,200");
  EXPECT_NE(a, b);
  EXPECT_TRUE((a < b) != (b < a));
}

// The same random operations on a CpuSet and on a std::set.
TEST(CpuSet, AgreesWithAnOrdinarySet) {
  std::mt19937 random(20240917);
  const auto below = [&random](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  for (int round = 0; round < 300; ++round) {
    const auto draw = [&below] {
      std::set<std::uint32_t> members;
      const std::uint32_t limit = 1 + below(300);
      for (std::uint32_t i = below(40); i > 0; --i) members.insert(below(limit));
      return members;
    };
    const std::set<std::uint32_t> a = draw();
    const std::set<std::uint32_t> b = draw();
    CpuSet cpus_a;
    CpuSet cpus_b;
    for (const std::uint32_t cpu : a) cpus_a.set(cpu);
    for (const std::uint32_t cpu : b) cpus_b.set(cpu);

    std::vector<std::uint32_t> both, either, only_a;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(either));
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a));
    EXPECT_THAT(cpus_a & cpus_b, testing::ElementsAreArray(both));
    EXPECT_THAT(cpus_a | cpus_b, testing::ElementsAreArray(either));
    EXPECT_THAT(cpus_a - cpus_b, testing::ElementsAreArray(only_a));
    EXPECT_EQ(cpus_a.count(), a.size());
    EXPECT_EQ(cpus_a.intersects(cpus_b), !both.empty());
    EXPECT_EQ(cpus_a.is_subset_of(cpus_b), only_a.empty());
    EXPECT_EQ(cpus_a == cpus_b, a == b);
    EXPECT_EQ(parsed(cpus_a.to_string()), cpus_a);
  }
}

TEST(CpuSet, ARangeIsItsCpusWhereverItsWordsEnd) {
  for (const std::uint32_t first : {0U, 1U, 63U, 64U, 127U}) {
    for (const std::uint32_t last : {0U, 62U, 63U, 64U, 127U, 128U, 200U}) {
      CpuSet one_by_one;
      for (std::uint32_t cpu = first; cpu <= last; ++cpu) one_by_one.set(cpu);
      EXPECT_EQ(CpuSet::range(first, last), one_by_one) << first << "-" << last;
    }
  }
}

}  // namespace
}  // namespace hierbar

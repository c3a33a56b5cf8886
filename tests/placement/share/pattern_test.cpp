// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/pattern.hpp"

#include <gmock/gmock.h>

#include <map>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;
using Threads = std::vector<std::uint32_t>;

// The paper's node: two packages of four cores.
Machine eight_cores(int smt = 1) {
  using enum Level;
  return test::make_machine("8 cores", {{kPackage, 2}, {kCore, 4}}, smt);
}

std::vector<std::string> cpus_of(Pattern pattern, const Machine& machine, const CpuSet& pool,
                                 const Threads& threads) {
  const Result<std::vector<CpuSet>> ranks = place_ranks(pattern, machine, pool, threads);
  if (!ranks) return {ranks.error()};
  std::vector<std::string> texts;
  for (const CpuSet& cpus : *ranks) texts.push_back(cpus.to_string());
  return texts;
}

std::vector<std::string> cpus_of(Pattern pattern, const Machine& machine, const Threads& threads) {
  return cpus_of(pattern, machine, machine.allowed, threads);
}

TEST(Pattern, PlacesSingleThreadsAsThePapersTableDoes) {
  const Machine machine = eight_cores();
  const Threads ones(8, 1);
  EXPECT_THAT(cpus_of(Pattern::kPacked, machine, ones),
              ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
  for (const Pattern pattern : {Pattern::kAlternating, Pattern::kCores, Pattern::kThreads}) {
    EXPECT_THAT(cpus_of(pattern, machine, ones),
                ElementsAre("0", "4", "1", "5", "2", "6", "3", "7"))
        << pattern_name(pattern);
  }
  EXPECT_THAT(cpus_of(Pattern::kPairs, machine, ones),
              ElementsAre("0", "1", "4", "5", "2", "3", "6", "7"));
  EXPECT_THAT(cpus_of(Pattern::kSockets, machine, Threads(3, 1)), ElementsAre("0-3", "4-7", "0-3"));
  EXPECT_THAT(cpus_of(Pattern::kRank, machine, ones),
              ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
}

// The nodes of P4's table 1: the packages of cpus 0 to 7, and its columns for the values of
// map_cpu.
struct PaperNode {
  std::string name;
  std::vector<int> packages;
  std::map<Pattern, std::vector<std::string>> rows;
};

Machine numbered_machine(const PaperNode& node) {
  Machine machine = eight_cores();
  std::vector<CpuSet> packages(2);
  for (std::uint32_t cpu = 0; cpu < 8; ++cpu) packages[node.packages[cpu]].set(cpu);
  std::size_t package = 0;
  std::vector<std::uint32_t> cores;
  for (Unit& unit : machine.units) {
    if (unit.has(Level::kPackage)) {
      unit.cpus = packages[package++];
      cores.assign(unit.cpus.begin(), unit.cpus.end());
    } else if (unit.has(Level::kCore)) {
      unit.cpus = CpuSet::range(cores.front(), cores.front());
      cores.erase(cores.begin());
    }
  }
  return machine;
}

TEST(Pattern, GivesTheNumbersOfThePapersTable) {
  using Row = std::vector<std::string>;
  const Row in_order{"0", "1", "2", "3", "4", "5", "6", "7"};
  const Row x4_c{"0", "2", "1", "3", "4", "6", "5", "7"};
  const PaperNode nodes[] = {
      {"X4",
       {0, 0, 1, 1, 0, 0, 1, 1},
       {{Pattern::kPacked, {"0", "1", "4", "5", "2", "3", "6", "7"}},    // b
        {Pattern::kAlternating, x4_c},                                   // c
        {Pattern::kPairs, in_order},                                     // b2
        {Pattern::kSwapped, {"7", "0", "6", "1", "3", "4", "2", "5"}},   // b4
        {Pattern::kEnds, {"0", "5", "2", "7", "1", "4", "3", "6"}},      // b5
        {Pattern::kHalves, {"0", "4", "2", "6", "1", "5", "3", "7"}}}},  // b7
      {"MVS-100K",
       {0, 1, 0, 1, 0, 1, 0, 1},
       {{Pattern::kPacked, {"0", "2", "4", "6", "1", "3", "5", "7"}},
        {Pattern::kAlternating, in_order},
        {Pattern::kPairs, x4_c},
        {Pattern::kSwapped, {"7", "0", "5", "2", "3", "4", "1", "6"}},
        {Pattern::kEnds, {"0", "6", "1", "7", "2", "4", "3", "5"}},
        {Pattern::kHalves, {"0", "4", "1", "5", "2", "6", "3", "7"}}}}};
  for (const PaperNode& node : nodes) {
    for (const auto& [pattern, row] : node.rows) {
      EXPECT_EQ(cpus_of(pattern, numbered_machine(node), Threads(8, 1)), row)
          << node.name << ' ' << pattern_name(pattern);
    }
  }
}

TEST(Pattern, VariantsKeepTheCoresOfARankTogether) {
  const Machine machine = eight_cores();
  EXPECT_THAT(cpus_of(Pattern::kEnds, machine, Threads(4, 2)),
              ElementsAre("0-1", "2-3", "4-5", "6-7"));
  EXPECT_THAT(cpus_of(Pattern::kSwapped, machine, Threads(4, 2)),
              ElementsAre("6-7", "0-1", "4-5", "2-3"));
  EXPECT_THAT(cpus_of(Pattern::kHalves, machine, Threads{3, 3}), ElementsAre("0-2", "4-6"));
  EXPECT_THAT(cpus_of(Pattern::kSwapped, eight_cores(2), Threads{1, 1, 1}),
              ElementsAre("14", "0", "12"));
}

TEST(Pattern, GivesARankAsManyCoresAsItHasThreads) {
  const Machine machine = eight_cores();
  EXPECT_THAT(cpus_of(Pattern::kPacked, machine, Threads{3, 3, 2}),
              ElementsAre("0-2", "3-5", "6-7"));
  EXPECT_THAT(cpus_of(Pattern::kAlternating, machine, Threads{2, 2, 2, 2}),
              ElementsAre("0-1", "4-5", "2-3", "6-7"));
}

TEST(Pattern, LooksForAPackageWithEnoughBeforeItCrossesOne) {
  const Machine machine = eight_cores();
  EXPECT_THAT(cpus_of(Pattern::kAlternating, machine, Threads{3, 1, 3}),
              ElementsAre("0-2", "4", "5-7"));
  EXPECT_THAT(cpus_of(Pattern::kAlternating, machine, Threads{3, 3, 2}),
              ElementsAre("0-2", "4-6", "3,7"));
}

TEST(Pattern, TellsHardwareThreadsFromCores) {
  const Machine machine = eight_cores(2);  // cpus 2i and 2i + 1 are core i's
  EXPECT_THAT(cpus_of(Pattern::kPacked, machine, Threads{2, 2}), ElementsAre("0,2", "4,6"));
  EXPECT_THAT(cpus_of(Pattern::kCores, machine, Threads{2, 2}), ElementsAre("0-3", "8-11"));
  EXPECT_THAT(cpus_of(Pattern::kThreads, machine, Threads{2, 2}), ElementsAre("0-1", "8-9"));
  EXPECT_THAT(cpus_of(Pattern::kRank, machine, Threads{2, 2}), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(cpus_of(Pattern::kAlternating, machine, Threads{4, 4, 4}),
              ElementsAre("0,2,4,6", "8,10,12,14", "1,3,5,7"));
}

TEST(Pattern, StartsAgainWhenEverythingIsGivenOut) {
  const Machine machine = eight_cores();
  EXPECT_THAT(cpus_of(Pattern::kPacked, machine, Threads{8, 3}), ElementsAre("0-7", "0-2"));
  EXPECT_THAT(cpus_of(Pattern::kRank, machine, Threads{20}), ElementsAre("0-7"));
}

TEST(Pattern, StaysInsideThePool) {
  const Machine machine = eight_cores();
  const CpuSet pool = *CpuSet::parse("2-4,6,90");
  EXPECT_THAT(cpus_of(Pattern::kAlternating, machine, pool, Threads(4, 1)),
              ElementsAre("2", "4", "3", "6"));
  EXPECT_THAT(cpus_of(Pattern::kSockets, machine, pool, Threads(2, 1)), ElementsAre("2-3", "4,6"));
  EXPECT_THAT(cpus_of(Pattern::kPacked, machine, CpuSet::range(90, 91), Threads{1}),
              ElementsAre("there is no cpu to place ranks on"));
}

TEST(Pattern, TakesAMachineWithoutPackagesForOne) {
  const Machine machine = test::make_machine("4 cores", {{Level::kCore, 4}}, 1);
  EXPECT_THAT(cpus_of(Pattern::kAlternating, machine, Threads(3, 1)), ElementsAre("0", "1", "2"));
  EXPECT_THAT(cpus_of(Pattern::kSockets, machine, Threads(1, 1)), ElementsAre("0-3"));
}

TEST(Pattern, HasANameThatIsUnderstood) {
  for (const PatternText& text : all_patterns()) {
    EXPECT_EQ(parse_pattern(text.name), text.pattern);
    EXPECT_STREQ(pattern_name(text.pattern), text.name);
  }
  EXPECT_EQ(parse_pattern("pack"), std::nullopt);
}

}  // namespace
}  // namespace hierbar

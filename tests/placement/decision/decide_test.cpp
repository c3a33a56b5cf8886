// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decision/decide.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two packages of two NUMA nodes of four cores.
Machine sixteen_cores(int smt = 1) {
  using enum Level;
  return test::make_machine("16 cores", {{kPackage, 2}, {kNuma, 2}, {kCore, 4}}, smt);
}

CpuPool all_of(const Machine& machine) {
  return {.cpus = machine.present,
          .source = PoolChoice::kGrant,
          .capacity = machine.present.count(),
          .is_exclusive = true,
          .why = "all"};
}

RankNeed on_cpus(const char* list, std::uint32_t num_threads) {
  return {*CpuSet::parse(list), num_threads};
}

std::vector<std::string> texts(const Decision& decision) {
  if (decision.shares.empty()) return {decision.why};
  std::vector<std::string> result;
  for (const CpuSet& share : decision.shares) result.push_back(share.to_string());
  return result;
}

std::vector<std::string> decided(const Machine& machine, const std::vector<RankNeed>& ranks) {
  return texts(decide(machine, all_of(machine), ranks));
}

TEST(Decide, RanksOnOneCoreEachGetTheNode) {
  EXPECT_THAT(decided(sixteen_cores(),
                      {on_cpus("0", 4), on_cpus("1", 4), on_cpus("2", 4), on_cpus("3", 4)}),
              ElementsAre("0-3", "4-7", "8-11", "12-15"));
}

TEST(Decide, UnboundRanksGetTheirParts) {
  EXPECT_THAT(decided(sixteen_cores(), {on_cpus("0-15", 4), on_cpus("0-15", 4)}),
              ElementsAre("0-7", "8-15"));
  EXPECT_THAT(decided(sixteen_cores(), {on_cpus("0-15", 12), on_cpus("0-15", 4)}),
              ElementsAre("0-11", "12-15"));
}

TEST(Decide, RanksKeepTheirOwnCoreWhereTheyCan) {
  EXPECT_THAT(decided(sixteen_cores(), {on_cpus("8", 8), on_cpus("0", 8)}),
              ElementsAre("8-15", "0-7"));
  EXPECT_THAT(decided(sixteen_cores(),
                      {on_cpus("12", 4), on_cpus("4", 4), on_cpus("0", 4), on_cpus("8", 4)}),
              ElementsAre("12-15", "4-7", "0-3", "8-11"));
}

TEST(Decide, EnoughCoresAndNoOverlapIsLeftAlone) {
  EXPECT_THAT(decided(sixteen_cores(), {on_cpus("0-3", 4), on_cpus("8-11", 4)}),
              ElementsAre(HasSubstr("a core of its own")));
  // As many cpus as threads, and half as many cores.
  EXPECT_THAT(decided(sixteen_cores(2), {on_cpus("0-3", 4), on_cpus("16-19", 4)}),
              ElementsAre("0-15", "16-31"));
}

TEST(Decide, TooManyThreadsAreLeftAlone) {
  EXPECT_THAT(decided(sixteen_cores(), {on_cpus("0", 9), on_cpus("1", 8)}),
              ElementsAre(HasSubstr("17 threads for 16 cpus")));
}

TEST(Decide, NobodyActsOnCpusThatMayBelongToOthers) {
  const Machine machine = sixteen_cores();
  CpuPool pool = all_of(machine);
  pool.is_exclusive = false;
  EXPECT_THAT(texts(decide(machine, pool, {on_cpus("0", 4)})), ElementsAre(HasSubstr("alone")));
}

// Threads by rank, of ranks whose numbers are given or 0, open.
std::vector<std::uint32_t> settled(std::uint32_t capacity,
                                   const std::vector<std::uint32_t>& numbers) {
  std::vector<RankNeed> ranks;
  for (const std::uint32_t number : numbers) ranks.push_back(on_cpus("0", number));
  std::vector<std::uint32_t> result;
  CpuPool pool;
  pool.capacity = capacity;
  for (const RankNeed& rank : settled_needs(pool, ranks)) result.push_back(rank.num_threads);
  return result;
}

TEST(SettledNeeds, OpenOnesAreEqualPartsOfWhatIsLeft) {
  EXPECT_THAT(settled(16, {0, 0, 0, 0}), ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(settled(16, {0, 0, 0}), ElementsAre(5, 5, 5));
  EXPECT_THAT(settled(16, {12, 0, 0}), ElementsAre(12, 2, 2));
  EXPECT_THAT(settled(16, {3, 5}), ElementsAre(3, 5));
}

TEST(SettledNeeds, OpenOnesAreOneThreadAtLeast) {
  EXPECT_THAT(settled(2, {0, 0, 0}), ElementsAre(1, 1, 1));
  EXPECT_THAT(settled(2, {4, 0}), ElementsAre(4, 1));
}

TEST(Decide, TeamsWithoutANumberFillTheirShares) {
  const Machine machine = sixteen_cores();
  const Decision bound =
      decide(machine, all_of(machine), {on_cpus("0", 0), on_cpus("1", 0), on_cpus("2", 0)});
  EXPECT_THAT(texts(bound), ElementsAre("0-4", "5-10", "11-15"));
  EXPECT_THAT(bound.team_sizes, ElementsAre(5, 6, 5));
  const Decision mixed =
      decide(machine, all_of(machine), {on_cpus("0-15", 12), on_cpus("0-15", 0)});
  EXPECT_THAT(texts(mixed), ElementsAre("0-11", "12-15"));
  EXPECT_THAT(mixed.team_sizes, ElementsAre(12, 4));
  EXPECT_THAT(decided(machine, {on_cpus("0-7", 0), on_cpus("8-15", 0)}),
              ElementsAre(HasSubstr("a core of its own")));
}

TEST(Decide, TeamsWithoutANumberStayInTheCapacity) {
  const Machine machine = sixteen_cores();
  CpuPool pool = all_of(machine);
  pool.capacity = 4;
  const Decision decision = decide(machine, pool, {on_cpus("0", 0), on_cpus("0", 0)});
  EXPECT_THAT(texts(decision), ElementsAre("0-7", "8-15"));
  EXPECT_THAT(decision.team_sizes, ElementsAre(2, 2));
}

TEST(DecideForEquals, PartsAreThoseOfEqualRanks) {
  const Machine machine = sixteen_cores();
  EXPECT_THAT(texts(decide_for_equals(machine, all_of(machine), 4, 4)),
              ElementsAre("0-3", "4-7", "8-11", "12-15"));
  EXPECT_THAT(decide_for_equals(machine, all_of(machine), 0, 3).team_sizes, ElementsAre(5, 6, 5));
  EXPECT_THAT(texts(decide_for_equals(machine, all_of(machine), 5, 4)),
              ElementsAre(HasSubstr("20 threads for 16 cpus")));
}

}  // namespace
}  // namespace hierbar

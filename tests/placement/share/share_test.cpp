// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "bench/common/random.hpp"
#include "placement/share/share.hpp"
#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;

using Threads = std::vector<std::uint32_t>;

// Two packages of two NUMA nodes of four cores.
Machine sixteen_cores(int smt = 1) {
  using enum Level;
  return test::make_machine("16 cores", {{kPackage, 2}, {kNuma, 2}, {kCore, 4}}, smt);
}

std::vector<std::string> shares_of(const Machine& machine, const CpuSet& pool,
                                   const Threads& threads) {
  const Result<std::vector<CpuSet>> shares = share_out(machine, pool, threads);
  if (!shares) return {shares.error()};
  std::vector<std::string> texts;
  for (const CpuSet& share : *shares) texts.push_back(share.to_string());
  return texts;
}

std::vector<std::string> shares_of(const Machine& machine, const Threads& threads) {
  return shares_of(machine, machine.allowed, threads);
}

TEST(ShareOut, CutsBetweenUnits) {
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{4, 4, 4, 4}),
              ElementsAre("0-3", "4-7", "8-11", "12-15"));
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{4, 4}), ElementsAre("0-7", "8-15"));
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{7}), ElementsAre("0-15"));
}

TEST(ShareOut, LetsOneRankCrossAPackageWhenTheNumbersDemandIt) {
  const Machine machine = sixteen_cores();
  const Result<std::vector<CpuSet>> shares = share_out(machine, machine.allowed, Threads{5, 5, 5});
  ASSERT_TRUE(shares.ok());
  int crossing = 0;
  for (const CpuSet& share : *shares) {
    EXPECT_GE(share.count(), 5U);
    crossing += count_touched(machine, share, Level::kPackage) > 1;
  }
  EXPECT_EQ(crossing, 1);
}

TEST(ShareOut, PrefersAnEdgeToAnEvenCut) {
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{2, 2, 2}), ElementsAre("0-3", "4-7", "8-15"));
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{2, 1}),
              ElementsAre("0-7", "8-15"));  // 10 and 6 would be even
}

TEST(ShareOut, IsProportionalToThreads) {
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{12, 4}), ElementsAre("0-11", "12-15"));
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{1, 15}), ElementsAre("0", "1-15"));
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{64, 64}), ElementsAre("0-7", "8-15"));
  EXPECT_THAT(shares_of(sixteen_cores(), Threads{1000, 1, 1}), ElementsAre("0-13", "14", "15"));
}

TEST(ShareOut, GivesWholeCoresWhileThereAreEnough) {
  const Machine machine = sixteen_cores(2);
  const Result<std::vector<CpuSet>> shares = share_out(machine, machine.allowed, Threads(16, 2));
  ASSERT_TRUE(shares.ok());
  for (const CpuSet& share : *shares)
    EXPECT_EQ(count_touched(machine, share, Level::kCore), 1U) << share.to_string();
  EXPECT_TRUE(share_out(machine, machine.allowed, Threads(32, 1)).ok());
}

TEST(ShareOut, StaysInsideThePool) {
  EXPECT_THAT(shares_of(sixteen_cores(), CpuSet::range(6, 9), Threads{1, 1}),
              ElementsAre("6-7", "8-9"));
  EXPECT_THAT(shares_of(sixteen_cores(), CpuSet::range(14, 20), Threads{1, 1}),
              ElementsAre("14", "15"));
}

TEST(ShareOut, RefusesMoreRanksThanCpus) {
  EXPECT_THAT(shares_of(sixteen_cores(), Threads(17, 1)), ElementsAre("17 ranks for 16 cpus"));
  EXPECT_THAT(shares_of(sixteen_cores(), CpuSet(), Threads{1}), ElementsAre("1 ranks for 0 cpus"));
}

void check_shares(const Machine& machine, const CpuSet& pool, const Threads& threads) {
  const Result<std::vector<CpuSet>> shares = share_out(machine, pool, threads);
  ASSERT_TRUE(shares.ok()) << shares.error();
  ASSERT_EQ(shares->size(), threads.size());
  const std::uint32_t num_cores = machine.one_cpu_per_core(pool).count();
  const bool enough = std::accumulate(threads.begin(), threads.end(), 0U) <= num_cores;
  CpuSet given;
  for (std::size_t rank = 0; rank < threads.size(); ++rank) {
    const CpuSet& share = (*shares)[rank];
    EXPECT_FALSE(share.empty());
    EXPECT_FALSE(share.intersects(given));
    EXPECT_GE(machine.one_cpu_per_core(share).count(), enough ? threads[rank] : 1U);
    given |= share;
  }
  EXPECT_EQ(given, pool & machine.present);
}

TEST(ShareOut, IsAPartitionOfAnyPoolOnAnyMachine) {
  std::mt19937 random(20);
  for (const Machine& machine : {sixteen_cores(), sixteen_cores(2), test::make_kunpeng(),
                                 test::make_hybrid(), test::make_partial_l3()}) {
    for (int round = 0; round < 100; ++round) {
      CpuSet pool;
      for (const std::uint32_t cpu : machine.present) {
        if (round == 0 || random() % 4 != 0) pool.set(cpu);
      }
      if (pool.empty()) continue;
      Threads threads(1 + random() % pool.count());
      const std::uint32_t most = 1 + static_cast<std::uint32_t>(random() % 9);
      for (std::uint32_t& count : threads) count = 1 + static_cast<std::uint32_t>(random() % most);
      SCOPED_TRACE(machine.name + ", pool " + pool.to_string() + ", " +
                   std::to_string(threads.size()) + " ranks");
      check_shares(machine, pool, threads);
    }
  }
}

using Sets = std::vector<CpuSet>;

Sets sets(const std::vector<const char*>& lists) {
  Sets result;
  for (const char* list : lists) result.push_back(*CpuSet::parse(list));
  return result;
}

std::vector<std::string> assigned(const std::vector<const char*>& shares,
                                  const std::vector<std::uint32_t>& threads,
                                  const std::vector<const char*>& homes) {
  std::vector<std::string> texts;
  for (const CpuSet& share : assign_shares(sets(shares), threads, sets(homes)))
    texts.push_back(share.to_string());
  return texts;
}

TEST(AssignShares, KeepsTheOrderWhereItMakesNoDifference) {
  EXPECT_THAT(assigned({"0-3", "4-7"}, {4, 4}, {"0-7", "0-7"}), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(assigned({"0-3", "4-7"}, {4, 4}, {"", ""}), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(assigned({"0-3", "4-7", "8-11"}, {4, 4, 4}, {"0", "1", "2"}),
              ElementsAre("0-3", "4-7", "8-11"));
}

TEST(AssignShares, FollowsTheHomes) {
  EXPECT_THAT(assigned({"0-3", "4-7"}, {4, 4}, {"4", "0"}), ElementsAre("4-7", "0-3"));
  // Ranks dealt out to packages in turn, as "-map-by socket" does.
  EXPECT_THAT(assigned({"0-3", "4-7", "8-11", "12-15"}, {4, 4, 4, 4}, {"0", "8", "1", "9"}),
              ElementsAre("0-3", "8-11", "4-7", "12-15"));
}

TEST(AssignShares, MovesOneRankForAnother) {
  // Rank 0 is at home in both shares, rank 1 only in the first.
  EXPECT_THAT(assigned({"0-3", "4-7"}, {4, 4}, {"3-4", "0"}), ElementsAre("4-7", "0-3"));
}

TEST(AssignShares, SwapsOnlyRanksOfAsManyThreads) {
  EXPECT_THAT(assigned({"0-5", "6-7"}, {6, 2}, {"7", "0"}), ElementsAre("0-5", "6-7"));
  EXPECT_THAT(assigned({"0-5", "6-7", "8-13"}, {6, 2, 6}, {"8", "0", "7"}),
              ElementsAre("8-13", "6-7", "0-5"));
}

// The most ranks that can keep a cpu of their home, found by trying all orders.
int best_by_trying(const Sets& shares, const std::vector<std::uint32_t>& threads,
                   const Sets& homes) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  int best = 0;
  do {
    int kept = 0;
    bool is_allowed = true;
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      is_allowed = is_allowed && threads[order[rank]] == threads[rank];
      kept += shares[order[rank]].intersects(homes[rank]) ? 1 : 0;
    }
    if (is_allowed) best = std::max(best, kept);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(AssignShares, IsAPermutationThatKeepsAsManyRanksAtHomeAsAny) {
  using enum Level;
  const Machine machine =
      test::make_machine("24 cores", {{kPackage, 2}, {kNuma, 3}, {kCore, 4}}, 2);
  test::Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> threads(1 + random.below(6));
    for (std::uint32_t& count : threads) count = 1 + random.below(2);
    Sets homes(threads.size());
    for (CpuSet& home : homes) {
      for (std::uint32_t i = random.below(4); i > 0; --i) home.set(random.below(48));
    }
    const Sets shares = *share_out(machine, machine.allowed, threads);
    Sets result = assign_shares(shares, threads, homes);
    int kept = 0;
    for (std::size_t rank = 0; rank < result.size(); ++rank)
      kept += result[rank].intersects(homes[rank]) ? 1 : 0;
    EXPECT_EQ(kept, best_by_trying(shares, threads, homes));
    std::sort(result.begin(), result.end());
    EXPECT_EQ(result, shares);
  }
}

TEST(AssignShares, TakesThousandsOfRanks) {
  Sets shares;
  Sets homes;
  for (std::uint32_t rank = 0; rank < 2048; ++rank) {
    shares.push_back(CpuSet::range(2 * rank, 2 * rank + 1));
    homes.push_back(CpuSet::range(4095 - 2 * rank, 4095 - 2 * rank));
  }
  const Sets result = assign_shares(shares, std::vector<std::uint32_t>(2048, 2), homes);
  for (std::size_t rank = 0; rank < 2048; ++rank)
    ASSERT_TRUE(homes[rank].is_subset_of(result[rank]));
}

}  // namespace
}  // namespace hierbar

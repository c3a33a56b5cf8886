// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/rank_tree.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "trace/stamps.h"

namespace hierbar::mpi {
namespace {

using Sight = RankTree::Sight;

// The system's clock, whose tick is 1 ns.
struct Told {
  std::vector<Sight> sights;
  report::BarrierTimes times;
  bool is_possible;
};

Told summarise(const RankTree& tree, const std::vector<Stamps>& stamps) {
  Told told;
  told.sights.resize(stamps.size());
  told.is_possible = tree.summarise(stamps, TraceClock::system(), told.sights, told.times);
  return told;
}

// The sum of all steps on the critical path.
std::uint64_t path_ns(const report::LevelTimes& levels) {
  std::uint64_t sum = levels.exchange.sum_ns() + levels.outside.sum_ns();
  for (const Histogram& times : levels.gather) sum += times.sum_ns();
  for (const Histogram& times : levels.release) sum += times.sum_ns();
  return sum;
}

TEST(RankTree, OneNodeWhoseRanksAllExchange) {
  const RankTree tree({0, 1, 2}, /*several_nodes=*/false);
  const Told told = summarise(tree, {{100, 0, 460, 470}, {400, 0, 450, 455}, {300, 0, 440, 445}});
  EXPECT_TRUE(told.is_possible);
  for (const Sight& sight : told.sights) EXPECT_EQ(sight.last, 400u);
  EXPECT_EQ(told.sights[0].is_last_itself, 0u);
  EXPECT_EQ(told.sights[1].is_last_itself, 1u);
  EXPECT_EQ(told.times.span.sum_ns(), 70u);
  EXPECT_EQ(told.times.levels->exchange.sum_ns(), 60u);
  EXPECT_EQ(told.times.levels->outside.sum_ns(), 10u);
}

TEST(RankTree, OneNodeWithLeaders) {
  const RankTree tree({0, 0, 2, 2}, /*several_nodes=*/false);
  // Rank 3 is the last; its leader gathers 20 later, the other one sees that 50 after, and its
  // member 10 after that.
  const Told told = summarise(
      tree, {{100, 160, 570, 575}, {150, 0, 580, 590}, {100, 520, 565, 570}, {500, 0, 575, 580}});
  EXPECT_TRUE(told.is_possible);
  EXPECT_EQ(told.sights[3].is_last_itself, 1u);
  EXPECT_EQ(told.times.levels->gather[0].sum_ns(), 20u);
  EXPECT_EQ(told.times.levels->exchange.sum_ns(), 50u);
  EXPECT_EQ(told.times.levels->release[0].sum_ns(), 10u);
  EXPECT_EQ(path_ns(*told.times.levels), told.times.span.sum_ns());
}

// Clocks of two nodes, a million apart. On the second one rank 3 comes 1000 after all others; its
// root is in the meeting for 40, the other one for 40 and the 1000 and 20 that it waits for rank 3
// and its root's gathering, less 20 of its own.
TEST(RankTree, NamesItsLevelsByWhatTheirRanksShare) {
  const std::vector<std::uint8_t> units{HIERBAR_UNIT_L3, 0, HIERBAR_UNIT_L2, 0,
                                        HIERBAR_UNIT_PACKAGE};
  const Told told = summarise(
      RankTree({0, 0, 2, 2}, /*several_nodes=*/false, units),
      {{100, 420, 460, 470}, {400, 0, 450, 455}, {300, 310, 440, 445}, {200, 0, 450, 460}});
  const std::vector<report::LevelGroups>& groups = told.times.levels->groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "package");
  EXPECT_EQ(groups[1].name, "L3/L2");
  EXPECT_EQ(groups[1].groups.at(1).threads, (std::vector<std::uint32_t>{2, 3}));
}

TEST(RankTree, NodesWithClocksOfTheirOwn) {
  const RankTree tree({0, 0, 2, 2}, /*several_nodes=*/true);
  EXPECT_TRUE(tree.has_several_nodes());
  constexpr std::uint64_t kApart = 1'000'000;
  const Told told = summarise(tree, {{500, 520, 1560, 1565},
                                     {500, 0, 1580, 1585},
                                     {kApart + 500, kApart + 1520, kApart + 1560, kApart + 1565},
                                     {kApart + 1500, 0, kApart + 1580, kApart + 1590}});
  EXPECT_TRUE(told.is_possible);
  EXPECT_EQ(told.sights[0].last, 1500u) << "in the first node's time";
  EXPECT_EQ(told.sights[1].last, 1500u);
  EXPECT_EQ(told.sights[2].last, kApart + 1500);
  EXPECT_EQ(told.sights[3].last, kApart + 1500);
  std::uint64_t num_last = 0;
  for (const Sight& sight : told.sights) num_last += sight.is_last_itself;
  EXPECT_EQ(num_last, 1u);
  EXPECT_EQ(told.sights[3].is_last_itself, 1u);
  EXPECT_EQ(told.times.span.count(), 1u) << "once, and not for each node";
  EXPECT_EQ(told.times.span.sum_ns(), 90u);
  EXPECT_EQ(told.times.levels->exchange.sum_ns(), 40u) << "the roots' meeting";
  EXPECT_EQ(path_ns(*told.times.levels), told.times.span.sum_ns());
}

TEST(RankTree, RankAloneOnItsNode) {
  const RankTree tree({0, 0, 2}, /*several_nodes=*/true);
  const Told told = summarise(tree, {{100, 120, 960, 965}, {110, 0, 970, 975}, {900, 0, 950, 955}});
  EXPECT_TRUE(told.is_possible);
  EXPECT_EQ(told.sights[2].is_last_itself, 1u);
  EXPECT_EQ(told.sights[2].last, 900u);
  EXPECT_EQ(told.sights[0].last, 910u)
      << "840 in the meeting, of which 50 were its own: 790 after 120";
}

TEST(RankTree, ContradictingStampsAreToldAndAddNoLevels) {
  const RankTree tree({0, 0}, /*several_nodes=*/false);
  const Told told = summarise(tree, {{100, 300, 200, 400}, {150, 0, 210, 220}});
  EXPECT_FALSE(told.is_possible);
  EXPECT_EQ(told.times.levels->outside.count(), 0u);
}

}  // namespace
}  // namespace hierbar::mpi

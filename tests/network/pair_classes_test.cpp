// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/pair_classes.hpp"

#include <gmock/gmock.h>

#include <set>

namespace hierbar::network {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(PairClasses, OfFewNodesAllPairsAreTaken) {
  EXPECT_THAT(sample_pairs(2, 64), ElementsAre(NodePair{0, 1}));
  EXPECT_THAT(sample_pairs(8, 64), SizeIs(28));
}

TEST(PairClasses, OfManyNodesAFewPairsOfEveryDistanceAreTaken) {
  for (const std::uint32_t num_nodes : {12U, 100U, 1024U, 5000U}) {
    const std::vector<NodePair> pairs = sample_pairs(num_nodes, 64);
    EXPECT_LE(pairs.size(), 64U);
    EXPECT_GE(pairs.size(), 32U);
    EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), pairs.size()) << "a pair twice";
    std::set<std::uint32_t> distances;
    for (const auto& [from, to] : pairs) {
      ASSERT_LT(from, to);
      ASSERT_LT(to, num_nodes);
      distances.insert(to - from);
    }
    EXPECT_GE(distances.size(), 4U);
  }
}

TEST(PairClasses, EqualRoundTripsAreOneClass) {
  const Grouping grouping = group_pairs(sample_pairs(4, 64), {20, 21, 22, 24, 19, 23}, {});
  EXPECT_THAT(grouping.names, ElementsAre("round trips of some 22 us"));
  EXPECT_THAT(grouping.classes, ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(PairClasses, AClearlyLongerRoundTripBeginsAClass) {
  const Grouping grouping = group_pairs(sample_pairs(4, 64), {20, 60, 21, 62, 200, 61}, {});
  EXPECT_THAT(grouping.names, SizeIs(3));
  EXPECT_THAT(grouping.classes, ElementsAre(0, 1, 0, 1, 2, 1));
}

TEST(PairClasses, ThereAreNotMoreClassesThanAllowed) {
  std::vector<double> round_trips;
  for (double us = 1; us < 1e6; us *= 2) round_trips.push_back(us);
  EXPECT_THAT(group_pairs(sample_pairs(7, 64), round_trips, {}).names, SizeIs(kMostPairClasses));
}

TEST(PairClasses, SlurmsSwitchesDecideWhereTheyAreKnown) {
  const char* const pattern = "switch.switch.node";
  const std::vector<NodeAddress> addresses{
      {"top.s1.n1", pattern}, {"top.s1.n2", pattern}, {"top.s2.n3", pattern}, {"other.s9.n4", pattern}};
  const Grouping grouping = group_pairs({{0, 1}, {0, 2}, {1, 2}, {0, 3}}, {5, 5, 5, 5}, addresses);
  EXPECT_THAT(grouping.names, ElementsAre("same switch", "1 switch up", "no common switch"));
  EXPECT_THAT(grouping.classes, ElementsAre(0, 1, 1, 2));
}

// Slurm without a topology plugin has the node's name only.
TEST(PairClasses, AddressesWithoutSwitchesAreNotUsed) {
  const Grouping grouping = group_pairs({{0, 1}}, {5}, {{"n1", "node"}, {"n2", "node"}});
  EXPECT_THAT(grouping.names, ElementsAre("round trips of some 5 us"));
}

TEST(PairClasses, AClassHasTheQuartilesOfItsMeasurements) {
  const PairClass all = summarize("all", 1, {{1, 10, 0, 0, 0}, {2, 20, 0, 0, 0}, {3, 60, 0, 0, 0}});
  EXPECT_EQ(all.latency_us, (Quartiles{1.5, 2, 2.5}));
  EXPECT_EQ(all.send_overhead_us, (Quartiles{15, 20, 40}));
}

}  // namespace
}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/channel_use.hpp"

#include <gmock/gmock.h>

namespace hierbar::network {
namespace {

// The paper's nodes: two packages of four cores, each a NUMA node with one L3.
Spot on_core(std::uint32_t node, std::uint32_t core) { return {node, core / 4, core / 4, core / 4}; }

std::vector<Spot> cores(std::uint32_t num_nodes, std::uint32_t per_node) {
  std::vector<Spot> spots;
  for (std::uint32_t node = 0; node < num_nodes; ++node) {
    for (std::uint32_t core = 0; core < per_node; ++core) spots.push_back(on_core(node, core));
  }
  return spots;
}

std::uint32_t cf_of(const std::vector<ChannelUse>& uses, ChannelKind kind) {
  std::uint32_t cf = 0;
  for (const ChannelUse& use : uses) cf = use.channel.kind == kind ? std::max(cf, use.cf) : cf;
  return cf;
}

FlowStep all_at_once(std::uint32_t n) {
  FlowStep step;
  for (std::uint32_t from = 0; from < n; ++from) {
    for (std::uint32_t to = 0; to < n; ++to) {
      if (from != to) step.push_back({from, to, 100});
    }
  }
  return step;
}

// P3's figure 1 and its benchmark: cf pairs exchange over a memory controller, over QPI, over an
// adapter, and the channel's cf is their number.
TEST(ChannelUse, CountsThePairsOfThePapersBenchmark) {
  for (std::uint32_t pairs = 1; pairs <= 4; ++pairs) {
    FlowStep inside, packages, nodes;
    std::vector<Spot> one_package(2 * pairs, on_core(0, 0)), two_packages, two_nodes;
    for (std::uint32_t i = 0; i < 2 * pairs; ++i) {
      two_packages.push_back(on_core(0, i < pairs ? i : 4 + i - pairs));
      two_nodes.push_back(on_core(i < pairs ? 0 : 1, i % pairs));
    }
    for (std::uint32_t i = 0; i < pairs; ++i) {
      for (FlowStep* step : {&inside, &packages, &nodes}) {
        step->push_back({i, i + pairs, 100});
        step->push_back({i + pairs, i, 100});
      }
    }
    EXPECT_EQ(cf_of(channel_uses(inside, one_package), ChannelKind::kL3), pairs);
    EXPECT_EQ(cf_of(channel_uses(packages, two_packages), ChannelKind::kPackage), pairs);
    EXPECT_EQ(cf_of(channel_uses(nodes, two_nodes), ChannelKind::kNetwork), pairs);
    EXPECT_EQ(channel_uses(nodes, two_nodes).size(), 2U) << "one adapter of each node";
    EXPECT_DOUBLE_EQ(channel_uses(inside, one_package).front().num_bytes, 100.0 * pairs);
  }
}

// The subsystems of P3's table, all messages at once.
TEST(ChannelUse, HasTheStatisticsOfThePapersSubsystems) {
  const auto network = [](std::uint32_t nodes, std::uint32_t per_node) {
    return cf_of(channel_uses(all_at_once(nodes * per_node), cores(nodes, per_node)), ChannelKind::kNetwork);
  };
  EXPECT_EQ(network(2, 1), 1U);
  EXPECT_EQ(network(2, 2), 4U);
  EXPECT_EQ(network(4, 1), 3U);
  EXPECT_EQ(network(2, 4), 16U);
  EXPECT_EQ(network(4, 2), 12U);
  EXPECT_EQ(network(1, 8), 0U);
  const std::vector<ChannelUse> node = channel_uses(all_at_once(8), cores(1, 8));
  EXPECT_EQ(cf_of(node, ChannelKind::kL3), 6U) << "12 messages among the 4 ranks of a package";
  EXPECT_EQ(cf_of(node, ChannelKind::kPackage), 16U);
}

TEST(ChannelUse, DirectionsCountApartWhereThereAreAny) {
  const std::vector<Spot> spots = cores(3, 1);
  const std::vector<ChannelUse> uses = channel_uses({{0, 2, 10}, {1, 2, 30}}, spots);
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[2].channel.node, 2U);
  EXPECT_EQ(uses[2].cf, 2U);
  EXPECT_DOUBLE_EQ(uses[2].num_bytes, 40);
  EXPECT_DOUBLE_EQ(uses[2].message_bytes, 20);
}

TEST(ChannelUse, TheSmallestUnitThatHoldsBothIsTheChannel) {
  const std::vector<Spot> spots{{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 2}, {0, 1, 2, 4}, {1, 0, 0, 0}};
  const ChannelKind kinds[] = {ChannelKind::kNuma, ChannelKind::kAcrossNuma, ChannelKind::kPackage, ChannelKind::kNetwork};
  for (std::uint32_t to = 1; to < 5; ++to) EXPECT_EQ(channel_uses({{0, to, 1}}, spots).front().channel.kind, kinds[to - 1]);
}

TEST(ChannelUse, ManyMessagesOfAPairAreOnePairThatRepeats) {
  const std::vector<ChannelUse> uses = channel_uses({{0, 1, 1000, 10}}, cores(2, 1));
  EXPECT_EQ(uses[0].cf, 1U);
  EXPECT_DOUBLE_EQ(uses[0].message_bytes, 100);
  EXPECT_DOUBLE_EQ(uses[0].num_rounds, 10);
}

}  // namespace
}  // namespace hierbar::network

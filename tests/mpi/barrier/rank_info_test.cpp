// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/rank_info.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace hierbar::mpi {
namespace {

RankInfo on_node(std::uint64_t node, std::initializer_list<RankInfo::Joined> joined = {}) {
  RankInfo record{};
  record.node = {{node, node + 1}};
  std::size_t i = 0;
  for (const RankInfo::Joined& segment : joined) record.joined[i++] = segment;
  return record;
}

TEST(NodeMap, NodesAreOrderedByTheirLowestRankAndRanksAscend) {
  const NodeMap map({on_node(7), on_node(3), on_node(7), on_node(5), on_node(3)});
  EXPECT_EQ(map.nodes(), (std::vector<NodeMap::Ranks>{{0, 2}, {1, 4}, {3}}));
  EXPECT_EQ(map.node_of(4), (NodeMap::Ranks{1, 4}));
  EXPECT_EQ(map.node_of(3), (NodeMap::Ranks{3}));
}

TEST(CommonSegment, IsTheFirstRanksNewestThatAllHave) {
  const std::vector<RankInfo> records = {on_node(1, {{30, 0, 0}, {20, 1, 0}, {10, 2, 0}}),
                                         on_node(1, {{10, 5, 0}, {20, 6, 0}}),
                                         on_node(1, {{20, 7, 0}}), on_node(1)};
  EXPECT_EQ(common_segment(records, {0, 1}), 20u);
  EXPECT_EQ(common_segment(records, {1, 0}), 10u);
  EXPECT_EQ(common_segment(records, {0, 1, 2}), 20u);
  EXPECT_EQ(common_segment(records, {0, 3}), 0u);
  EXPECT_EQ(member_index(records[1], 20), 6u);
}

TEST(AllHave, EveryRecordMustHaveTheFlag) {
  std::vector<RankInfo> records(3);
  for (RankInfo& record : records) record.flags = RankInfo::kVerbose | RankInfo::kWantsEngine;
  EXPECT_TRUE(all_have(records, RankInfo::kVerbose));
  records[1].flags = RankInfo::kWantsEngine;
  EXPECT_FALSE(all_have(records, RankInfo::kVerbose));
}

}  // namespace
}  // namespace hierbar::mpi

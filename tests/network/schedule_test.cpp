// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/schedule.hpp"

#include <gmock/gmock.h>

namespace hierbar::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Schedule, NamesAreReadAndWritten) {
  for (const char* name : {"linear", "double-ring", "recursive-doubling", "dissemination:1", "dissemination:255", "tree:1",
                           "tree:8", "combining-tree:2", "combining-tree:16"}) {
    const auto kind = parse_kind(name);
    ASSERT_TRUE(kind.ok()) << kind.error();
    EXPECT_EQ(name_of(*kind), name);
  }
  EXPECT_EQ(name_of(*parse_kind("bruck")), "dissemination:1");
  EXPECT_EQ(name_of(*parse_kind("Dissemination")), "dissemination:1");
  EXPECT_EQ(name_of(*parse_kind("tree")), "tree:1");
  EXPECT_EQ(name_of(*parse_kind("combining-tree")), "combining-tree:2");
  EXPECT_EQ(name_of(*parse_kind("central")), "linear");
}

TEST(Schedule, OtherNamesAreRefusedWithTheReason) {
  EXPECT_THAT(parse_kind("ring").error(), HasSubstr("'ring' is no known algorithm"));
  EXPECT_THAT(parse_kind("").error(), HasSubstr("'' is no known algorithm"));
  EXPECT_THAT(parse_kind("linear:2").error(), HasSubstr("'linear' takes no number"));
  EXPECT_THAT(parse_kind("bruck:2").error(), HasSubstr("'bruck' takes no number"));
  for (const char* name : {"tree:0", "tree:256", "tree:", "tree:x", "tree:-1", "tree:1x"}) {
    EXPECT_THAT(parse_kind(name).error(), HasSubstr("is no number from 1 to 255")) << name;
  }
  EXPECT_THAT(parse_kind("combining-tree:1").error(), HasSubstr("from 2 to 255"));
}

TEST(Schedule, AListHasEachKindOnce) {
  const auto kinds = parse_kinds("linear, dissemination:3,bruck,dissemination,tree:2");
  ASSERT_TRUE(kinds.ok()) << kinds.error();
  EXPECT_THAT(*kinds, ElementsAre(Kind{Algorithm::kLinear, 1}, Kind{Algorithm::kDissemination, 3},
                                  Kind{Algorithm::kDissemination, 1}, Kind{Algorithm::kTree, 2}));
  EXPECT_FALSE(parse_kinds("linear,,tree").ok());
}

// The trap of a library that took -1 there, its "from anybody".
TEST(Schedule, TheLeftNeighbourOfRank0IsTheLastRank) {
  for (const Round& round : rounds({Algorithm::kDoubleRing, 1}, 0, 7)) {
    EXPECT_THAT(round.send_to, ElementsAre(1U));
    EXPECT_THAT(round.receive_from, ElementsAre(6U));
  }
}

TEST(Schedule, DisseminationSendsToKPeersInARound) {
  const std::vector<Round> all = rounds({Algorithm::kDissemination, 3}, 1, 14);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0].send_to, ElementsAre(2U, 3U, 4U));
  EXPECT_THAT(all[0].receive_from, ElementsAre(0U, 13U, 12U));
  EXPECT_THAT(all[1].send_to, ElementsAre(5U, 9U, 13U));
  EXPECT_THAT(all[1].receive_from, ElementsAre(11U, 7U, 3U));
}

TEST(Schedule, RanksAboveAPowerOfTwoStandBeside) {
  const std::vector<Round> core = rounds({Algorithm::kRecursiveDoubling, 1}, 1, 6);
  ASSERT_EQ(core.size(), 4U);
  EXPECT_THAT(core.front().receive_from, ElementsAre(5U));
  EXPECT_THAT(core[1].send_to, ElementsAre(0U));
  EXPECT_THAT(core[2].send_to, ElementsAre(3U));
  EXPECT_THAT(core.back().send_to, ElementsAre(5U));
  ASSERT_EQ(rounds({Algorithm::kRecursiveDoubling, 1}, 5, 6).size(), 1U);
}

TEST(Schedule, OneRankHasNothingToDo) {
  for (const char* name : {"linear", "double-ring", "recursive-doubling", "bruck", "tree", "combining-tree"}) {
    EXPECT_THAT(rounds(*parse_kind(name), 0, 1), IsEmpty());
    EXPECT_EQ(num_messages(*parse_kind(name), 1), 0U);
  }
}

}  // namespace
}  // namespace hierbar::network

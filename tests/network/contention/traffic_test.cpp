// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/traffic.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "network/contention/traffic_matrix.hpp"

namespace hierbar::network {
namespace {

using ::testing::HasSubstr;

std::vector<FlowStep> steps_of(const Traffic& traffic, std::uint32_t num_ranks) {
  std::vector<FlowStep> steps;
  for_each_step(traffic, num_ranks, [&](const FlowStep& step) { steps.push_back(step); });
  return steps;
}

Traffic traffic(const std::string& text, const std::string& algorithm = "") {
  const Traffic plain = *parse_traffic(text);
  return algorithm.empty() ? plain : *with_algorithm(plain, algorithm);
}

TEST(Traffic, AnAllToAllBringsEveryBlockToItsRankOnce) {
  for (const char* algorithm : {"blocked", "blocked:1", "blocked:3", "pairwise"}) {
    for (std::uint32_t n = 1; n <= 17; ++n) {
      std::map<std::pair<std::uint32_t, std::uint32_t>, int> count;
      for (const FlowStep& step : steps_of(traffic("alltoall:8", algorithm), n)) {
        for (const Flow& flow : step) ++count[{flow.from, flow.to}];
      }
      EXPECT_EQ(count.size(), n * (n - 1)) << algorithm;
      for (const auto& [pair, times] : count) {
        EXPECT_EQ(times, 1);
        EXPECT_NE(pair.first, pair.second);
      }
    }
  }
}

TEST(Traffic, BlocksHaveAsManyMessagesOfEachRankAsAsked) {
  const std::vector<FlowStep> steps = steps_of(traffic("alltoall:8", "blocked:3"), 8);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].size(), 24U);
  EXPECT_EQ(steps[2].size(), 8U);
}

// The blocks themselves are followed: rank r begins with a block for each offset.
TEST(Traffic, BrucksStepsCarryAllBlocks) {
  for (std::uint32_t n = 1; n <= 33; ++n) {
    double sent = 0;
    double expected = 0;
    for (const FlowStep& step : steps_of(traffic("alltoall:1", "bruck"), n)) {
      EXPECT_EQ(step.size(), n);
      for (const Flow& flow : step) sent += flow.num_bytes;
    }
    for (std::uint32_t offset = 1; offset < n; ++offset) expected += n * __builtin_popcount(offset);
    EXPECT_EQ(sent, expected) << n;
  }
}

TEST(Traffic, StarsAndHalosHaveTheirNeighbours) {
  const FlowStep star = steps_of(traffic("all-to-one:4"), 5).front();
  EXPECT_EQ(star.size(), 4U);
  for (const Flow& flow : star) EXPECT_EQ(flow.to, 0U);
  const FlowStep halo = steps_of(traffic("halo:4"), 12).front();  // 3 x 4: 9 + 8 borders
  EXPECT_EQ(halo.size(), 34U);
  const FlowStep line = steps_of(traffic("halo:4"), 7).front();
  EXPECT_EQ(line.size(), 12U);
}

TEST(Traffic, SaysWhatItDoesNotUnderstand) {
  EXPECT_THAT(parse_traffic("scatter:1K").error(), HasSubstr("'scatter' is no known pattern"));
  for (const char* text :
       {"alltoall", "alltoall:", "alltoall:0", "alltoall:x", "alltoall:1X", "halo:-1", "halo:1MM", "halo:2048G"}) {
    EXPECT_FALSE(parse_traffic(text).ok()) << text;
  }
  EXPECT_FALSE(with_algorithm(traffic("halo:1"), "bruck").ok());
  for (const char* text : {"", "blocked:", "blocked:0", "blocked:65537", "bruck:2", "ring"}) {
    EXPECT_FALSE(with_algorithm(traffic("alltoall:1"), text).ok()) << text;
  }
  EXPECT_EQ(describe(traffic("alltoall:1024K")), "alltoall:1M, blocked:32");
  EXPECT_EQ(describe(traffic("halo:1000")), "halo:1000");
}

TEST(TrafficMatrix, IsReadAsItWasWritten) {
  const auto matrix = parse_matrix("# a comment\n0,10, 20\r\n3.5,0,0\n0,1e3,0\n");
  ASSERT_TRUE(matrix.ok()) << matrix.error();
  EXPECT_EQ(matrix->num_ranks, 3U);
  const FlowStep step = steps_of(*matrix, 3).front();
  EXPECT_EQ(step.size(), 4U);
  EXPECT_EQ(step[3].num_bytes, 1000);
  const auto counted = parse_matrix("0,8\n16,0\n# messages\n0,2\n4,0\n");
  ASSERT_TRUE(counted.ok()) << counted.error();
  EXPECT_EQ(steps_of(*counted, 2).front()[1].num_messages, 4);
}

TEST(TrafficMatrix, SaysWhatIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {{"", "no numbers"},
               {"0,1\n", "not square: 1 lines, and 2 numbers in row 1"},
               {"0,1\n1\n", "not square"},
               {"0,-1\n1,0\n", "line 1: '-1' is negative"},
               {"0,a\n1,0\n", "'a' is no number"},
               {"0,\n1,0\n", "is no number"},
               {"0,inf\n1,0\n", "no number"},
               {"0,1e19\n1,0\n", "larger"},
               {"0,1\n1,0\n# messages\n1\n", "another size"}};
  for (const auto& one : cases) {
    const auto matrix = parse_matrix(one.text);
    ASSERT_FALSE(matrix.ok()) << one.text;
    EXPECT_THAT(matrix.error(), HasSubstr(one.message)) << one.text;
  }
}

}  // namespace
}  // namespace hierbar::network

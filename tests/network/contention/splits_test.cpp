// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/splits.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace hierbar::network {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::vector<std::string> names(std::uint32_t num_ranks, std::uint32_t most_nodes = 1024, std::uint32_t most_per_node = 1024) {
  std::vector<std::string> texts;
  for (const Split& split : all_splits(num_ranks, most_nodes, most_per_node)) texts.push_back(describe(split));
  return texts;
}

TEST(Splits, AreFilledAndEvenOnes) {
  EXPECT_THAT(names(1), ElementsAre("1x1"));
  EXPECT_THAT(names(4), ElementsAre("1x4", "2x2", "3+1", "2+1+1", "4x1"));
  EXPECT_THAT(names(8), Contains("5+3"));
  EXPECT_THAT(names(8), Contains("3+3+2"));
  EXPECT_EQ(describe({3, 3, 3, 1}), "3x3+1");
}

TEST(Splits, HaveAllRanksAndStayInTheirLimits) {
  for (std::uint32_t n = 1; n <= 70; ++n) {
    for (const Split& split : all_splits(n, 9, 12)) {
      EXPECT_EQ(std::accumulate(split.begin(), split.end(), 0U), n);
      EXPECT_LE(split.size(), 9U);
      EXPECT_LE(split.front(), 12U);
    }
  }
  EXPECT_THAT(names(8, 4, 4), ElementsAre("2x4", "3+3+2", "4x2"));
}

Quartiles exact(double time) { return {time, time, time}; }

// P3's table: predicted and measured seconds, and the order that it gives.
TEST(Ranking, GivesThePapersThreeOrders) {
  const struct {
    std::vector<double> predicted, measured;
    std::vector<std::uint32_t> order;
  } table[] = {{{0.00016, 0.00033}, {0.00044, 0.00061}, {1, 2}},
               {{0.0019, 0.0021, 0.0018}, {0.0031, 0.0036, 0.0029}, {2, 3, 1}},
               {{0.00384, 0.19, 0.0058}, {0.00754, 0.09, 0.0076}, {1, 3, 2}}};
  for (const auto& row : table) {
    for (const auto* times : {&row.predicted, &row.measured}) {
      std::vector<Quartiles> intervals;
      for (const double time : *times) intervals.push_back(exact(time));
      EXPECT_EQ(rank_by_time(intervals), row.order);
    }
  }
}

TEST(Ranking, TimesInsideEachOthersErrorShareARank) {
  EXPECT_THAT(rank_by_time({{9, 10, 12}, {8, 11, 13}, {20, 21, 22}}), ElementsAre(1, 1, 3));
  EXPECT_THAT(rank_by_time({{9, 10, 10.5}, {8, 11, 13}}), ElementsAre(1, 2)) << "the first one is surely faster";
  EXPECT_THAT(rank_by_time({{8, 10, 12}, {9, 11.5, 14}, {11, 13, 15}}), ElementsAre(1, 1, 3)) << "no chains";
  EXPECT_THAT(rank_by_time({}), ElementsAre());
}

}  // namespace
}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/paper/paper_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/model/paper/paper.hpp"

namespace hierbar::bench::model {
namespace {

using testing::ElementsAre;

TEST(Agreement, MeanErrorCountsBothDirections) {
  EXPECT_DOUBLE_EQ(mean_error_percent({1.1, 1.6}, {1, 2}), 15);
}

TEST(Agreement, EqualValuesShareTheirRanks) {
  EXPECT_THAT(ranks({3, 1, 3, 2}), ElementsAre(2.5, 0, 2.5, 1));
}

TEST(Agreement, RankCorrelationDependsOnTheOrderAlone) {
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {10, 11, 50, 1000}), 1);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {2, 1, 3, 4}), 0.8);  // 1 - 6 * 2 / (4 * 15)
}

TEST(Agreement, PairsThatAreCloseDoNotCount) {
  const PairOrder order = order_of_pairs({1, 2, 3}, {10, 10.5, 8});
  EXPECT_EQ(order.count, 2U);
  EXPECT_EQ(order.right, 0U);
}

// The paper gives this coefficient for its own table.
TEST(Agreement, VariationIsThePapers) {
  for (const PaperRow& row : paper_rows()) {
    const double variation = variation_percent({row.us[1], row.us[2], row.us[3]});
    if (row.name == "mcs") {
      EXPECT_NEAR(variation, 24.5, 0.1);
    } else if (row.name == "topo-NUMA") {
      EXPECT_NEAR(variation, 6.5, 0.1);
    }
  }
}

TEST(Paper, SeventeenCellsAreForTrainingAndTwentyAreHeldOut) {
  const std::vector<Cell> cells = paper_cells();
  EXPECT_EQ(cells.size(), 37U);
  EXPECT_EQ(std::count_if(cells.begin(), cells.end(), is_training), 17);
}

}  // namespace
}  // namespace hierbar::bench::model

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include <numeric>
#include <utility>

#include "network/contention/contention_table.hpp"
#include "network/contention/predict.hpp"
#include "tests/network/contention/paper_tables.hpp"

namespace hierbar::network {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Cell = std::pair<int, int>;  // megabytes, cf

std::vector<Cell> marked(const test::PaperFigure& figure) {
  const ContentionTable table = test::table_of(figure, 100);
  std::vector<Cell> cells;
  for (const auto& [num_bytes, row] : table.cells()) {
    for (const auto& cell : row) {
      if (table.is_collapse(num_bytes, cell.first))
        cells.emplace_back(num_bytes / test::kMegabyte, cell.first);
    }
  }
  return cells;
}

TEST(ContentionTable, MarksTheCellsThatThePaperMarks) {
  EXPECT_THAT(marked(test::figure_3a()), ElementsAre(Cell(4, 2), Cell(4, 3), Cell(4, 4)));
  EXPECT_EQ(marked(test::figure_3b()).size(), 11U);
  EXPECT_THAT(marked(test::figure_4()), IsEmpty());
  EXPECT_THAT(marked(test::figure_5a()),
              UnorderedElementsAre(Cell(16, 3), Cell(8, 3), Cell(8, 4), Cell(8, 7), Cell(4, 2),
                                   Cell(4, 3), Cell(4, 8)));
  EXPECT_THAT(marked(test::figure_5b()), IsEmpty());
}

TEST(ContentionTable, TakesSlowdownsBelowOneAsTheyAre) {
  const ContentionTable gigabit = test::table_of(test::figure_5b(), 100);
  EXPECT_DOUBLE_EQ(gigabit.slowdown(4 * test::kMegabyte, 2), 0.3);
  EXPECT_DOUBLE_EQ(gigabit.time_us(4 * test::kMegabyte, 2).median, 120);
}

TEST(ContentionTable, InterpolatesBetweenSizesAndBetweenPairs) {
  ContentionTable table;
  table.put(1000, 1, {9, 10, 12});
  table.put(1000, 3, {27, 30, 36});
  table.put(3000, 1, {19, 20, 22});
  table.put(3000, 3, {39, 40, 44});
  EXPECT_EQ(table.time_us(1000, 1), (Quartiles{9, 10, 12}));
  EXPECT_EQ(table.time_us(2000, 1), (Quartiles{14, 15, 17}));
  EXPECT_EQ(table.time_us(1000, 2), (Quartiles{18, 20, 24}));
  EXPECT_DOUBLE_EQ(table.time_us(2000, 2).median, 25);
}

TEST(ContentionTable, GoesOnInProportionBeyondWhatWasMeasured) {
  ContentionTable table;
  table.put(1000, 1, {10, 10, 10});
  table.put(1000, 4, {40, 40, 40});
  EXPECT_DOUBLE_EQ(table.time_us(4000, 1).median, 40);
  EXPECT_DOUBLE_EQ(table.time_us(1000, 8).median, 80);
  EXPECT_DOUBLE_EQ(table.time_us(1, 1).median, 10) << "a short message costs its start-up";
}

TEST(ContentionTable, ACellThatWasNotMeasuredHasNoSlowdown) {
  ContentionTable table;
  table.put(1000, 2, {1, 1, 1});
  EXPECT_EQ(table.slowdown(1000, 2), 0);
  EXPECT_FALSE(table.is_collapse(1000, 2));
  EXPECT_EQ(table.slowdown(2000, 1), 0);
}

TEST(Contention, AChannelWithoutATableTakesTheNextFartherOneOfTheNode) {
  Contention contention;
  contention.tables[ChannelKind::kNuma].put(1, 1, {1, 1, 1});
  contention.tables[ChannelKind::kNetwork].put(1, 1, {1, 1, 1});
  EXPECT_EQ(contention.table_for(ChannelKind::kL3), &contention.tables[ChannelKind::kNuma]);
  EXPECT_EQ(contention.table_for(ChannelKind::kPackage), &contention.tables[ChannelKind::kNuma]);
  contention.tables.erase(ChannelKind::kNetwork);
  EXPECT_EQ(contention.table_for(ChannelKind::kNetwork), nullptr);
  contention.tables.erase(ChannelKind::kNuma);
  EXPECT_EQ(contention.table_for(ChannelKind::kL3), nullptr);
}

using ::testing::Contains;

std::vector<std::string> names(std::uint32_t num_ranks, std::uint32_t most_nodes = 1024,
                               std::uint32_t most_per_node = 1024) {
  std::vector<std::string> texts;
  for (const Split& split : all_splits(num_ranks, most_nodes, most_per_node))
    texts.push_back(describe(split));
  return texts;
}

TEST(Splits, AreFilledAndEvenOnes) {
  EXPECT_THAT(names(1), ElementsAre("1x1"));
  EXPECT_THAT(names(4), ElementsAre("1x4", "2x2", "3+1", "2+1+1", "4x1"));
  EXPECT_THAT(names(8), Contains("5+3"));
  EXPECT_THAT(names(8), Contains("3+3+2"));
  EXPECT_EQ(describe(Split{3, 3, 3, 1}), "3x3+1");
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
  EXPECT_THAT(rank_by_time({{9, 10, 10.5}, {8, 11, 13}}), ElementsAre(1, 2))
      << "the first one is surely faster";
  EXPECT_THAT(rank_by_time({{8, 10, 12}, {9, 11.5, 14}, {11, 13, 15}}), ElementsAre(1, 1, 3))
      << "no chains";
  EXPECT_THAT(rank_by_time({}), ElementsAre());
}

}  // namespace
}  // namespace hierbar::network

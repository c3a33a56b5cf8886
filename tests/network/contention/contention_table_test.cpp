// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/contention_table.hpp"

#include <gmock/gmock.h>

#include <utility>

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
      if (table.is_collapse(num_bytes, cell.first)) cells.emplace_back(num_bytes / test::kMegabyte, cell.first);
    }
  }
  return cells;
}

TEST(ContentionTable, MarksTheCellsThatThePaperMarks) {
  EXPECT_THAT(marked(test::figure_3a()), ElementsAre(Cell(4, 2), Cell(4, 3), Cell(4, 4)));
  EXPECT_EQ(marked(test::figure_3b()).size(), 11U);
  EXPECT_THAT(marked(test::figure_4()), IsEmpty());
  EXPECT_THAT(marked(test::figure_5a()),
              UnorderedElementsAre(Cell(16, 3), Cell(8, 3), Cell(8, 4), Cell(8, 7), Cell(4, 2), Cell(4, 3), Cell(4, 8)));
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

}  // namespace
}  // namespace hierbar::network

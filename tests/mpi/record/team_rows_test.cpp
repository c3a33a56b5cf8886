// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/team_rows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hierbar::mpi {
namespace {

void add_barriers(const std::vector<report::RawRing*>& rows, int count) {
  for (report::RawRing* row : rows) {
    for (int i = 0; i < count; ++i) {
      report::RawEvent event;
      event.team = &rows;
      event.begin = static_cast<std::uint64_t>(i) * 100;
      event.end = event.begin + 50;
      event.has_levels = true;
      row->add(event);
    }
  }
}

TEST(TeamRows, TeamsAtTheSameTimeHaveRowsOfTheirOwn) {
  const TraceClock clock = TraceClock::measure();
  TeamRows rows(8, clock);
  const auto first = rows.take(2), second = rows.take(1);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], second[0]);
  add_barriers(first, 3);
  add_barriers(second, 10);
  EXPECT_EQ(rows.counts().kept, 2 * 3 + 8u);
  EXPECT_EQ(rows.counts().dropped, 2u);
  report::Timeline timeline;
  rows.add_to(timeline, report::this_process());
  ASSERT_EQ(timeline.processes.size(), 2u);
  EXPECT_EQ(timeline.processes[0].part, "team barriers");
  EXPECT_EQ(timeline.processes[0].threads.size(), 2u);
  EXPECT_EQ(timeline.processes[0].threads[1].number, 1u);
  EXPECT_EQ(timeline.processes[1].part, "team barriers 2");
}

TEST(TeamRows, ATeamGoesOnInTheRowsOfOneThatHasEnded) {
  const TraceClock clock = TraceClock::measure();
  TeamRows rows(8, clock);
  const auto first = rows.take(2), other = rows.take(2);
  rows.give_back(first);
  const auto next = rows.take(3);
  EXPECT_EQ(next[0], first[0]);
  EXPECT_EQ(next[1], first[1]);
  rows.give_back(other);
  EXPECT_EQ(rows.take(1)[0], other[0]);
}

}  // namespace
}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/trial.hpp"

#include <gmock/gmock.h>

namespace hierbar::mpi {
namespace {

using ::testing::ElementsAre;

// Times of a trial in which each method always takes the same, in nanoseconds.
Trial::Times steady(const std::vector<long long>& of_ways) {
  Trial::Times times{};
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = of_ways[i % of_ways.size()];
  return times;
}

TEST(Trial, WaysTakeTurnsUntilItEnds) {
  Trial trial(3);
  std::vector<int> turns(3);
  std::size_t count = 0;
  for (; !trial.has_ended(); ++count) {
    EXPECT_EQ(trial.method(), count % 3);
    ++turns[trial.method()];
    trial.record(static_cast<long long>(count));
  }
  EXPECT_EQ(count, Trial::kNumMeetings);
  EXPECT_THAT(turns, ElementsAre(11, 11, 10));
  EXPECT_EQ(trial.times()[7], 7);
}

TEST(Trial, TheBestWayWins) {
  const Trial::Verdict verdict = Trial(4).judge(steady({10'000, 12'000, 6'000, 8'000}));
  EXPECT_EQ(verdict.method, 2U);
  EXPECT_THAT(verdict.medians_us, ElementsAre(10, 12, 6, 8));
}

TEST(Trial, TheLibraryStaysUnlessFivePercentIsGained) {
  EXPECT_EQ(Trial(2).judge(steady({10'000, 9'501})).method, 0U);
  EXPECT_EQ(Trial(2).judge(steady({10'000, 9'500})).method, 1U);
  EXPECT_EQ(Trial(2).judge(steady({10'000, 10'000})).method, 0U);
}

TEST(Trial, TheFirstTurnsAndRareDelaysDoNotCount) {
  Trial::Times times = steady({10'000, 5'000});
  times[1] = 9'000'000;  // the library connects
  times[5] = 9'000'000;
  EXPECT_EQ(Trial(2).judge(times).method, 1U);
}

}  // namespace
}  // namespace hierbar::mpi

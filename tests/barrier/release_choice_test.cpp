// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "barrier/release_choice.hpp"

#include <gtest/gtest.h>

namespace hierbar {
namespace {

// A team whose exchanges take `exchange_time`, and whose other barriers take `release_time`.
struct Team {
  std::uint64_t exchange_time = 1000;
  std::uint64_t release_time = 10;
  std::uint64_t late_every = 1;  // in which of its exchanges participant 0 comes late
  ReleaseChoice choice;
  std::uint64_t now = 1'000'000;
  std::uint64_t num_exchanges = 0;
  std::uint64_t num_releases = 0;

  void cross(int num_barriers) {
    for (int i = 0; i < num_barriers; ++i) {
      if (choice.wants_release()) {
        now += release_time;
        ++num_releases;
        choice.releases(now);
      } else {
        now += exchange_time;
        if (num_exchanges % late_every == 0) choice.came_late(now, num_exchanges);
        ++num_exchanges;
      }
    }
  }
};

TEST(ReleaseChoice, KeepsExchangesWhileNobodyIsLate) {
  const ReleaseChoice choice;
  EXPECT_FALSE(choice.wants_release());
}

TEST(ReleaseChoice, ReleasesWhereThatIsMuchQuicker) {
  Team team;
  team.cross(100'000);
  EXPECT_LT(team.num_exchanges, 200U);
}

TEST(ReleaseChoice, TriesOnlyAFewTimesWhereItIsNot) {
  Team team;
  team.release_time = 600;  // quicker, but not by half
  team.cross(100'000);
  EXPECT_GT(team.num_releases, 0U);
  EXPECT_LT(team.num_releases, 12 * ReleaseChoice::kTried);
}

TEST(ReleaseChoice, TriesNothingAfterSeldomDisturbances) {
  Team team;
  team.late_every = ReleaseChoice::kOf / ReleaseChoice::kLate + 2;
  team.cross(100'000);
  EXPECT_EQ(team.num_releases, 0U);
}

TEST(ReleaseChoice, CountsAnExchangeOnce) {
  ReleaseChoice choice;
  for (std::uint64_t now = 1; now <= 1000; ++now) choice.came_late(now, 7);
  EXPECT_FALSE(choice.wants_release());
}

TEST(ReleaseChoice, ReturnsToExchangesWhenTheyAreQuickAgain) {
  Team team;
  team.cross(2'000);
  ASSERT_TRUE(team.choice.wants_release());
  team.exchange_time = 8;
  team.cross(200'000);
  EXPECT_FALSE(team.choice.wants_release());
  EXPECT_GT(team.num_exchanges, 150'000U);
}

TEST(ReleaseChoice, FindsThatExchangesHaveBecomeSlow) {
  Team team;
  team.release_time = 1000;
  team.cross(10'000);
  team.release_time = 10;
  team.cross(200'000);
  EXPECT_TRUE(team.choice.wants_release());
  EXPECT_GT(team.num_releases, 150'000U);
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where participants outnumber the cpus: who releases the others, and who polls before it yields.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "barrier/barrier.hpp"
#include "barrier/real_mem.hpp"
#include "barrier/release_choice.hpp"
#include "tests/support/test_plans.hpp"

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
  EXPECT_LT(team.num_releases, 100'000 * ReleaseChoice::kTried / 500);
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

// Notes what it is told, and gives up at once.
struct NotingHost {
  std::vector<bool> told;
  int spin_polls(bool crew_waits) {
    told.push_back(crew_waits);
    return 0;
  }
  int pauses_per_poll() const { return 1; }
  bool can_sleep() const { return false; }
  WaitResult wait(AwaitedWord<RealMem<NotingHost>>&) { return WaitResult::kAborted; }
  void wake(std::uint32_t) {}
  bool heavy_fence() { return false; }
};

// What the participants are told who arrive in this order, up to the last of all.
std::vector<bool> told_in(const test::TestPlan& owner, const std::vector<std::uint32_t>& order) {
  const hierbar_plan plan = owner.view();
  const std::size_t bytes = Barrier<RealMem<NotingHost>>::size_bytes(plan);
  const std::unique_ptr<void, decltype(&std::free)> lines(
      std::aligned_alloc(plan.line_bytes, bytes), &std::free);
  std::memset(lines.get(), 0, bytes);
  const Barrier<RealMem<NotingHost>> barrier(plan, lines.get());
  NotingHost host;
  RealMem<NotingHost> mem(host);
  for (const std::uint32_t me : order) barrier.cross(mem, me, 0);
  return host.told;
}

TEST(Alone, TheLastOfACrewIsToldThatNobodyNeedsItsCpu) {
  const auto crews = test::make_crews(4, 2);  // 0 and 2, 1 and 3
  EXPECT_EQ(told_in(crews, {0, 1, 2, 3}), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(told_in(crews, {2, 0, 3, 1}), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(told_in(test::make_crews(3, 2), {1, 0, 2}), (std::vector<bool>{true, false}))
      << "a crew of one";
}

TEST(Alone, NobodyIsWhereNoCrewsAre) {
  EXPECT_EQ(told_in(test::make_flat(3), {0, 1, 2}), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>
#include <poll.h>

#include "base/clock.hpp"
#include "mpi/node/wait_evidence.hpp"

namespace hierbar::mpi {
namespace {

constexpr int kMost = 32;

// Waits `count` times, and returns how many of the waits yielded.
int num_that_yield(YieldHistory& history, std::uint32_t count, bool yields_help) {
  int num = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (history.begin_wait(kMost) == 0) continue;
    ++num;
    history.end_wait(!yields_help);
  }
  return num;
}

TEST(YieldHistory, WaitsYieldAsLongAsThatHelps) {
  YieldHistory history{};
  EXPECT_EQ(num_that_yield(history, 100, true), 100);
}

TEST(YieldHistory, AFewYieldsInVainChangeNothing) {
  YieldHistory history{};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(num_that_yield(history, YieldHistory::kPatience - 1, false),
              static_cast<int>(YieldHistory::kPatience) - 1);
    EXPECT_EQ(num_that_yield(history, 1, true), 1);
  }
}

TEST(YieldHistory, WaitsSleepAtOnceAfterYieldsInVainAndTryAgainNowAndThen) {
  YieldHistory history{};
  num_that_yield(history, YieldHistory::kPatience, false);
  EXPECT_EQ(num_that_yield(history, YieldHistory::kNumWithoutYields, false), 0);
  EXPECT_EQ(num_that_yield(history, 10 * (YieldHistory::kNumWithoutYields + 1), false), 10);
}

TEST(YieldHistory, OneTrialThatHelpsEndsThat) {
  YieldHistory history{};
  num_that_yield(history, YieldHistory::kPatience + YieldHistory::kNumWithoutYields, false);
  EXPECT_EQ(num_that_yield(history, 50, true), 50);
}

void idle() {}
void be_switched_out() { poll(nullptr, 0, 1); }
void work() {
  for (const std::int64_t end_ns = monotonic_ns() + 20'000; monotonic_ns() < end_ns;) continue;
}

// As a library's own yield does.
TEST(PeerActivity, LongCallsThatLetOthersRunAreNoPeers) {
  PeerActivity activity;
  EXPECT_FALSE(activity.found_by(idle));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(activity.found_by(be_switched_out));
}

// Another program may take the cpu in some of them.
TEST(PeerActivity, LongCallsInARowArePeers) {
  PeerActivity activity;
  EXPECT_FALSE(activity.found_by(idle));
  int num_long = 0;
  do ++num_long;
  while (!activity.found_by(work));
  EXPECT_GE(num_long, 2);
}

}  // namespace
}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "barrier/contention.hpp"

#include <gtest/gtest.h>

namespace hierbar {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 1'000'000 * kMs;  // the clock began long ago

// Long yields of `length_ms`, one every `period_ms`, for `total_ms`. Returns how many of them made
// waits sleep.
int num_times(std::int64_t length_ms, std::int64_t period_ms, std::int64_t total_ms,
              Contention& contention) {
  int count = 0;
  for (std::int64_t at = 0; at < total_ms; at += period_ms) {
    const std::int64_t start = kStart + at * kMs;
    count += contention.add_long_yield(start, start + length_ms * kMs) ? 1 : 0;
  }
  return count;
}

int num_times(std::int64_t length_ms, std::int64_t period_ms, std::int64_t total_ms) {
  Contention contention;
  return num_times(length_ms, period_ms, total_ms, contention);
}

TEST(Contention, ToleratesWhatPassesBy) {
  EXPECT_EQ(num_times(3, 1'000'000, 1), 0);  // one slice
  EXPECT_EQ(num_times(3, 100, 100'000), 0);  // a daemon
  EXPECT_EQ(num_times(3, 30, 100'000), 0);   // a tenth of the time
}

TEST(Contention, ActsWithinSomeSlicesOnWhoComputes) {
  Contention contention;
  EXPECT_EQ(num_times(3, 6, 18, contention), 0);
  EXPECT_TRUE(contention.add_long_yield(kStart + 18 * kMs, kStart + 21 * kMs));
  EXPECT_EQ(contention.num_long_yields(), 4U);
  EXPECT_EQ(contention.num_times(), 1U);
}

TEST(Contention, GoesOnActingAsLongAsTimeIsLost) { EXPECT_GT(num_times(3, 6, 6'000), 990); }

TEST(Contention, ForgetsWhoHasGone) {
  Contention contention;
  num_times(3, 6, 6'000, contention);
  const std::int64_t later = kStart + 7'000 * kMs;
  EXPECT_FALSE(contention.add_long_yield(later, later + 3 * kMs));
}

TEST(Contention, CountsTimeOnceThatSeveralThreadsLose) {
  Contention contention;
  for (int thread = 0; thread < 8; ++thread)
    EXPECT_FALSE(contention.add_long_yield(kStart, kStart + 3 * kMs + thread));
  EXPECT_EQ(contention.num_long_yields(), 8U);
}

TEST(Contention, IsRememberedOnlyAfterTooMuchWasLost) {
  Contention contention;
  EXPECT_FALSE(contention.is_remembered());
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t now_ns = now.tv_sec * 1000 * kMs + now.tv_nsec;
  contention.add_long_yield(now_ns - 3 * kMs, now_ns);
  EXPECT_FALSE(contention.is_remembered());
  contention.add_long_yield(now_ns, now_ns + 10 * kMs);
  EXPECT_TRUE(contention.is_remembered());
}

}  // namespace
}  // namespace hierbar

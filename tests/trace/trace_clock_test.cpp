// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/trace_clock.hpp"

#include <gtest/gtest.h>

namespace hierbar {
namespace {

TEST(TraceClock, KnowsWhatATickIsWorth) {
  const TraceClock clock = TraceClock::measure();
  EXPECT_EQ(clock.to_ns(0), 0U);
  EXPECT_GT(clock.ns_per_tick(), 0);
  EXPECT_NEAR(static_cast<double>(clock.to_ns(1'000'000'000)), clock.ns_per_tick() * 1e9, 1e3);
  EXPECT_EQ(TraceClock::system().to_ns(12345), 12345U);
}

// A machine that stops this thread between two readings makes one attempt worthless, not all of
// them.
TEST(TraceClock, AgreesWithTheSystemsClock) {
  const TraceClock clock = TraceClock::measure();
  double best = 1;
  for (int attempt = 0; attempt < 20 && best > 0.01; ++attempt) {
    const std::uint64_t ticks = clock.now(), start = read_system_ns();
    while (read_system_ns() - start < 1'000'000) {
    }
    const auto by_clock = static_cast<double>(clock.to_ns(clock.now() - ticks));
    const auto by_system = static_cast<double>(read_system_ns() - start);
    best = std::min(best, std::abs(by_clock / by_system - 1));
  }
  EXPECT_LT(best, 0.01) << clock.name();
}

TEST(TraceClock, NeverGoesBackwardsInOneThreadAndKnowsItsCost) {
  const TraceClock clock = TraceClock::measure();
  std::uint64_t last = clock.now();
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(clock.resolution_ns(), 0);
  EXPECT_GT(clock.stamp_ns(), 0);
  EXPECT_FALSE(clock.name().empty());
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>

#include "base/arch/counter.hpp"
#include "base/arch/memory.hpp"
#include "base/arch/pause.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "topology/sequence_order.hpp"

namespace hierbar {
namespace {

TEST(Pause, AsManyAsFitBetweenTwoPolls) {
  EXPECT_EQ(pauses_per_poll(11.2, kIntelPollSpacing_ns), 5);
  EXPECT_EQ(pauses_per_poll(13, kIntelPollSpacing_ns), 4);
  EXPECT_EQ(pauses_per_poll(47, kIntelPollSpacing_ns), 1);
  EXPECT_EQ(pauses_per_poll(25.1, kPollSpacing_ns), 1);
  EXPECT_EQ(pauses_per_poll(24.9, kPollSpacing_ns), 1);
}

TEST(Pause, OneAtLeastAndSixteenAtMost) {
  EXPECT_EQ(pauses_per_poll(100, kIntelPollSpacing_ns), 1);
  EXPECT_EQ(pauses_per_poll(0.5, kIntelPollSpacing_ns), 16);
  EXPECT_EQ(pauses_per_poll(0, kIntelPollSpacing_ns), 1) << "a clock that stands still";
}

TEST(Pause, IsMeasuredOnThisProcessor) {
  const double pause_ns = measure_pause_ns();
  EXPECT_GT(pause_ns, 0);
  EXPECT_EQ(pauses_per_poll(pause_ns, poll_spacing_ns()) == 1,
            pause_ns * 2 > static_cast<double>(poll_spacing_ns()));
}

TEST(LineDistance, IsTwoLinesOf64Bytes) { EXPECT_EQ(line_distance(64), 128U); }

TEST(LineDistance, IsOneLineThatIsLonger) {
  EXPECT_EQ(line_distance(128), 128U);
  EXPECT_EQ(line_distance(256), 256U);
}

TEST(LineDistance, IsAPowerOfTwo) { EXPECT_EQ(line_distance(192), 256U); }

TEST(LineDistance, IsThatOf64BytesWhereNothingIsKnown) {
  EXPECT_EQ(line_distance(0), 128U);
  EXPECT_EQ(line_distance(-1), 128U);
}

TEST(LineDistance, OfThisMachineHoldsItsLines) {
  EXPECT_GE(static_cast<long>(own_line_distance()), sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
}

TEST(SequenceOrder, IsThatOfTheFirstNumbersThatDiffer) {
  const std::vector<std::uint64_t> three{3}, fifteen{15}, large{1, 256}, larger{1, 257};
  EXPECT_TRUE(compare_sequences(three, fifteen) < 0);
  EXPECT_TRUE(compare_sequences(fifteen, three) > 0);
  EXPECT_TRUE(compare_sequences(large, larger) < 0);
  EXPECT_TRUE(BySequence{}(large, three));
  EXPECT_FALSE(BySequence{}(three, three));
}

TEST(SequenceOrder, PutsTheShorterOneFirst) {
  const std::vector<std::uint32_t> none, one{7}, two{7, 0};
  EXPECT_TRUE(compare_sequences(none, one) < 0);
  EXPECT_TRUE(compare_sequences(two, one) > 0);
  EXPECT_TRUE(compare_sequences(two, two) == 0);
}

constexpr std::uint64_t kOne = std::uint64_t{1} << 32;  // a factor of 1

TEST(ScaleTicks, KeepsWhatIsWhole) {
  EXPECT_EQ(scale_ticks(0, kOne), 0U);
  EXPECT_EQ(scale_ticks(12'345, kOne), 12'345U);
  EXPECT_EQ(scale_ticks(~0ULL, kOne), ~0ULL);
  EXPECT_EQ(scale_ticks(24'000'000, 41 * kOne), 984'000'000U);
}

TEST(ScaleTicks, RoundsDownOnce) {
  EXPECT_EQ(scale_ticks(3, kOne / 2), 1U);
  EXPECT_EQ(scale_ticks((std::uint64_t{1} << 40) + 1, kOne / 2), std::uint64_t{1} << 39);
  EXPECT_EQ(scale_ticks(0xffff'ffff'ffff'ffff, 0xffff'ffff), 0xffff'ffff'0000'0000 - 1)
      << "2^64 - 2^32 - 1 and a fraction";
  EXPECT_EQ(scale_ticks(0x1'ffff'ffff, 0x2'8000'0000), 0x4'ffff'fffd);
}

TEST(ScaleTicks, WrapsWhereTheResultHasMoreThan64Bits) {
  EXPECT_EQ(scale_ticks(0xffff'ffff'ffff'ffff, 2 * kOne), 0xffff'ffff'ffff'fffe);
}

// A limit that the kernel takes for another one ends at once, or not at all.
TEST(Futex, SleepsForAsLongAsItsLimitSays) {
  std::atomic<std::uint32_t> word{1};
  const timespec limit = {0, 200'000'000};
  const auto start_ns = monotonic_ns();
  futex(word, FUTEX_WAIT, 1, &limit);
  EXPECT_GE(monotonic_ns() - start_ns, 200'000'000);
}

}  // namespace
}  // namespace hierbar

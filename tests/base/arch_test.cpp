// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/arch/memory.hpp"
#include "base/arch/pause.hpp"

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

}  // namespace
}  // namespace hierbar

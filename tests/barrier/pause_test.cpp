// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "barrier/pause.hpp"

#include <gtest/gtest.h>

namespace hierbar {
namespace {

TEST(Pause, AsManyAsFitBetweenTwoPolls) {
  EXPECT_EQ(pauses_per_look(11.2, kIntelLookSpacing_ns), 5);
  EXPECT_EQ(pauses_per_look(13, kIntelLookSpacing_ns), 4);
  EXPECT_EQ(pauses_per_look(47, kIntelLookSpacing_ns), 1);
  EXPECT_EQ(pauses_per_look(25.1, kLookSpacing_ns), 1);
  EXPECT_EQ(pauses_per_look(24.9, kLookSpacing_ns), 1);
}

TEST(Pause, OneAtLeastAndSixteenAtMost) {
  EXPECT_EQ(pauses_per_look(100, kIntelLookSpacing_ns), 1);
  EXPECT_EQ(pauses_per_look(0.5, kIntelLookSpacing_ns), 16);
  EXPECT_EQ(pauses_per_look(0, kIntelLookSpacing_ns), 1) << "a clock that stands still";
}

TEST(Pause, IsMeasuredOnThisProcessor) {
  const double pause_ns = measure_pause_ns();
  EXPECT_GT(pause_ns, 0);
  EXPECT_EQ(pauses_per_look(pause_ns, look_spacing_ns()) == 1, pause_ns * 2 > static_cast<double>(look_spacing_ns()));
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/line_distance.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace hierbar {
namespace {

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

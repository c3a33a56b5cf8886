// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/parameters.hpp"

#include <gmock/gmock.h>

namespace hierbar::network {
namespace {

using ::testing::HasSubstr;

TEST(Parameters, AreReadInAnyOrder) {
  const auto read = parse_parameters("g=0.22,o_r=123.8,L=125.6,o_s=.43,G=1e-3");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(*read, (Parameters{125.6, 0.43, 123.8, 0.22, 0.001}));
  EXPECT_EQ(describe(*read), "L 125.6, o_s 0.43, o_r 123.8, g 0.22 us, G 0.001 us/byte");
}

TEST(Parameters, TheGapPerByteMayBeLeftOut) {
  const auto read = parse_parameters("L=1,o_s=2,o_r=3,g=4");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->gap_per_byte_us, 0);
}

TEST(Parameters, AreRefusedWithTheReason) {
  const auto complaint = [](const char* text) {
    const auto read = parse_parameters(text);
    return read.ok() ? "" : read.error();
  };
  EXPECT_THAT(complaint(""), HasSubstr("'' is no parameter"));
  EXPECT_THAT(complaint("L=1,o_s=2,o_r=3"), HasSubstr("'g' is missing"));
  EXPECT_THAT(complaint("L=1,L=1,o_s=2,o_r=3,g=1"), HasSubstr("'L' is there twice"));
  EXPECT_THAT(complaint("l=1,o_s=2,o_r=3,g=1"), HasSubstr("'l' is no parameter"));
  EXPECT_THAT(complaint("L=1,o_s=2,o_r=3,g=1,"), HasSubstr("'' is no parameter"));
  for (const char* value : {"", "-1", "nan", "inf", "1e10", "1 ", "0x1"}) {
    EXPECT_THAT(complaint((std::string("o_s=2,o_r=3,g=1,L=") + value).c_str()), HasSubstr("has no number from 0 to 1e9"))
        << value;
  }
  EXPECT_THAT(complaint("L,o_s=2,o_r=3,g=1"), HasSubstr("'L' has no number"));
}

}  // namespace
}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hierbar {
namespace {

using Parts = std::vector<std::string>;

Parts lines_of(std::string_view text) {
  Parts lines;
  while (!text.empty()) lines.emplace_back(take_line(text));
  return lines;
}

TEST(Text, LinesAreTakenWithTheirEnds) {
  EXPECT_EQ(lines_of("a b\n\nc\n"), (Parts{"a b", "", "c"}));
  EXPECT_EQ(lines_of("the last one without an end"), (Parts{"the last one without an end"}));
  EXPECT_EQ(lines_of(""), Parts());
}

TEST(Text, WordsAreTakenWithTheBlanksBeforeThem) {
  std::string_view text = "  Uid:\t0\n 1000 ";
  for (const char* word : {"Uid:", "0", "1000", "", ""}) EXPECT_EQ(take_word(text), word);
}

TEST(Text, ANumberIsTheWholeText) {
  std::int32_t number = 5;
  for (const char* text : {"", "x", "7x", " 7", "+7", "2147483648"})
    EXPECT_FALSE(parse_whole(std::string_view(text), number)) << text;
  EXPECT_EQ(number, 5);
  EXPECT_TRUE(parse_whole("-7", number));
  EXPECT_EQ(number, -7);
}

}  // namespace
}  // namespace hierbar

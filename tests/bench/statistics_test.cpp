// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/statistics.hpp"

#include <gtest/gtest.h>

namespace hierbar::bench {
namespace {

TEST(Summary, OfNoSamplesIsNothing) {
  EXPECT_FALSE(summarize({}));
  EXPECT_FALSE(median({}));
}

TEST(Summary, OfOneSampleIsThatSample) {
  const auto summary = summarize({7});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->num_samples, 1u);
  EXPECT_EQ(summary->minimum, 7);
  EXPECT_EQ(summary->lower_quartile, 7);
  EXPECT_EQ(summary->median, 7);
  EXPECT_EQ(summary->upper_quartile, 7);
  EXPECT_EQ(summary->maximum, 7);
}

TEST(Summary, DoesNotDependOnTheOrderOfSamples) {
  const auto summary = summarize({5, 1, 4, 2, 3});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->minimum, 1);
  EXPECT_EQ(summary->lower_quartile, 2);
  EXPECT_EQ(summary->median, 3);
  EXPECT_EQ(summary->upper_quartile, 4);
  EXPECT_EQ(summary->maximum, 5);
}

TEST(Summary, InterpolatesBetweenTheTwoMiddleSamples) { EXPECT_EQ(median({10, 40, 20, 30}), 25); }

TEST(Summary, MedianIgnoresTheUpperTail) { EXPECT_EQ(median({100, 101, 102, 1e9, 99}), 101); }

TEST(Regime, IsNearBelow80AndFarAbove150) {
  EXPECT_EQ(classify_regime(42), Regime::kNear);
  EXPECT_EQ(classify_regime(79.9), Regime::kNear);
  EXPECT_EQ(classify_regime(80), Regime::kMiddle);
  EXPECT_EQ(classify_regime(150), Regime::kMiddle);
  EXPECT_EQ(classify_regime(150.1), Regime::kFar);
}

TEST(Regime, OfTimesInOneClassIsTheSame) { EXPECT_TRUE(same_regime(35, 75)); }

TEST(Regime, OfTimesCloseToABorderIsTheSame) { EXPECT_TRUE(same_regime(82, 78)); }

TEST(Regime, OfNearAndFarDiffersInBothDirections) {
  EXPECT_FALSE(same_regime(42, 190));
  EXPECT_FALSE(same_regime(190, 42));
}

TEST(PrevailingOneWay, OfNothingIsNothing) { EXPECT_FALSE(prevailing_one_way({})); }

TEST(PrevailingOneWay, IsTheMiddleOfTheMajority) {
  EXPECT_EQ(prevailing_one_way({190, 42, 44, 204, 43}), 43);
}

TEST(PrevailingOneWay, IsNotAnAverageOfTwoRegimes) {
  const auto prevailing = prevailing_one_way({40, 200, 41, 201});
  ASSERT_TRUE(prevailing);
  EXPECT_NE(classify_regime(*prevailing), Regime::kMiddle);
}

TEST(RatioOfMedians, IsTakenInsideEachRepetition) {
  // The machine was ten times slower in the second repetition, for both alike.
  const auto ratio = ratio_of_medians({{0, {50, 50, 51}}, {1, {500, 505, 499}}},
                                      {{0, {100, 100, 99}}, {1, {1000, 1001, 999}}});
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 0.5);
  EXPECT_DOUBLE_EQ(ratio->lowest, 0.5);
  EXPECT_DOUBLE_EQ(ratio->highest, 0.5);
}

TEST(RatioOfMedians, SpreadsFromTheLowestToTheHighestRepetition) {
  const auto ratio =
      ratio_of_medians({{0, {40}}, {1, {50}}, {2, {70}}}, {{0, {100}}, {1, {100}}, {2, {100}}});
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 0.5);
  EXPECT_DOUBLE_EQ(ratio->lowest, 0.4);
  EXPECT_DOUBLE_EQ(ratio->highest, 0.7);
}

TEST(RatioOfMedians, LeavesOutRepetitionsThatOnlyOneSideHas) {
  const auto ratio = ratio_of_medians({{0, {10}}, {1, {900}}}, {{0, {20}}, {2, {1}}});
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->highest, 0.5);
}

TEST(RatioOfMedians, OfSeriesWithoutACommonRepetitionIsNothing) {
  EXPECT_FALSE(ratio_of_medians({{0, {10}}}, {{1, {20}}}));
  EXPECT_FALSE(ratio_of_medians({}, {}));
}

TEST(RatioOfMedians, OverZeroIsNothing) { EXPECT_FALSE(ratio_of_medians({{0, {10}}}, {{0, {0}}})); }

}  // namespace
}  // namespace hierbar::bench

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/compare/paired_ratios.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace hierbar {
namespace {

std::vector<double> one_to(std::size_t number) {
  std::vector<double> values(number);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

struct TabulatedRange {
  std::size_t num_values;
  double lower, upper, confidence;
};

// W. J. Conover's table A3 (binomial distribution, p = 0.5) gives these.
TEST(PairedRatios, RangeIsTheTabulatedOneOfTheBinomialDistribution) {
  constexpr TabulatedRange kTable[] = {
      {3, 1, 3, 0.75},     {5, 1, 5, 0.9375},    {6, 1, 6, 0.9687},   {8, 1, 8, 0.9922},
      {9, 2, 8, 0.9609},   {10, 2, 9, 0.9785},   {12, 3, 10, 0.9614}, {15, 4, 12, 0.9648},
      {20, 6, 15, 0.9586}, {30, 10, 21, 0.9572},
  };
  for (const TabulatedRange& row : kTable) {
    const PairedRatio ratio = summarize_pairs(one_to(row.num_values));
    EXPECT_EQ(ratio.num_pairs, row.num_values);
    EXPECT_EQ(ratio.lower, row.lower) << row.num_values;
    EXPECT_EQ(ratio.upper, row.upper) << row.num_values;
    EXPECT_NEAR(ratio.confidence, row.confidence, 1e-4) << row.num_values;
    EXPECT_EQ(ratio.confidence >= kWantedConfidence, row.num_values >= kFewestPairsForRange);
  }
}

TEST(PairedRatios, OrderOfThePairsDoesNotMatter) {
  std::vector<double> ratios = {1.2, 0.8, 1.0, 0.9, 1.1};
  const PairedRatio first = summarize_pairs(ratios);
  std::reverse(ratios.begin(), ratios.end());
  const PairedRatio second = summarize_pairs(ratios);
  EXPECT_EQ(first.median, 1.0);
  EXPECT_EQ(second.median, first.median);
  EXPECT_EQ(second.lower, first.lower);
  EXPECT_EQ(second.upper, first.upper);
}

TEST(PairedRatios, NoneAndOne) {
  EXPECT_EQ(summarize_pairs({}).num_pairs, 0U);
  const PairedRatio one = summarize_pairs({0.7});
  EXPECT_EQ(one.median, 0.7);
  EXPECT_EQ(one.confidence, 0);
  EXPECT_EQ(judge(one, false), Judgement::kNoDifference);
}

// As often as it promises: of 2,000 samples of a skewed distribution the range misses the median in
// fewer than 5 %, or hardly more by chance.
TEST(PairedRatios, RangeContainsTheMedianAsOftenAsItSays) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> skewed(0, 0.5);  // its median is 1
  constexpr int kNumSamples = 2000;
  for (const std::size_t size : {6, 9, 14, 30}) {
    int num_missed = 0;
    for (int sample = 0; sample < kNumSamples; ++sample) {
      std::vector<double> values(size);
      for (double& value : values) value = skewed(random);
      const PairedRatio ratio = summarize_pairs(values);
      num_missed += ratio.lower > 1 || ratio.upper < 1;
    }
    EXPECT_LT(num_missed, kNumSamples * 0.065) << size;
    EXPECT_GT(num_missed, 0) << size;
  }
}

TEST(PairedRatios, JudgesByTheRangeAndByWhatIsPrinted) {
  const auto ratio = [](double lower, double median, double upper) {
    return PairedRatio{9, median, lower, upper, 0.96};
  };
  EXPECT_EQ(judge(ratio(0.8, 0.9, 0.95), false), Judgement::kFaster);
  EXPECT_EQ(judge(ratio(0.8, 0.9, 0.95), true), Judgement::kSlower);
  EXPECT_EQ(judge(ratio(1.1, 1.2, 1.3), false), Judgement::kSlower);
  EXPECT_EQ(judge(ratio(1.1, 1.2, 1.3), true), Judgement::kFaster);
  EXPECT_EQ(judge(ratio(0.8, 0.9, 1.01), false), Judgement::kNoDifference);
  EXPECT_EQ(judge(ratio(1, 1.2, 1.3), false), Judgement::kNoDifference);
  EXPECT_EQ(judge(ratio(0.99, 0.997, 0.999), false), Judgement::kNoDifference);  // 1.00
}

TEST(PairedRatios, OutliersAreFarFromTheOthers) {
  EXPECT_EQ(count_outliers({1.0, 1.1, 0.9, 1.05, 0.95, 9}), 1U);
  EXPECT_EQ(count_outliers({1.0, 1.1, 0.9, 1.05, 0.95, 1.4}), 0U);
  EXPECT_EQ(count_outliers({1, 1, 1, 1, 1, 2}), 0U) << "the deviation is 0";
  EXPECT_EQ(count_outliers({1.0, 1.1, 9}), 0U) << "too few to tell";
  EXPECT_EQ(count_outliers({}), 0U);
}

TEST(PairedRatios, AsManyAsFitAndNeverFewerThanThree) {
  EXPECT_EQ(pairs_that_fit(1000, 120), 3U);
  EXPECT_EQ(pairs_that_fit(30, 120), 4U);
  EXPECT_EQ(pairs_that_fit(24, 120), 5U);
  EXPECT_EQ(pairs_that_fit(10, 120), 12U);
  EXPECT_EQ(pairs_that_fit(9, 120), 12U) << "13 fit; each way comes first as often";
  EXPECT_EQ(pairs_that_fit(0.001, 120), 30U);
  EXPECT_EQ(pairs_that_fit(0, 120), 30U);
}

}  // namespace
}  // namespace hierbar

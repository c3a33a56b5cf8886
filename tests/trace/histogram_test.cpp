// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hierbar {
namespace {

TEST(Histogram, HasBucketsWithoutGapsThatAreNarrow) {
  EXPECT_EQ(Histogram::first_ns(0), 0U);
  for (std::size_t i = 0; i < Histogram::kNumBuckets; ++i) {
    const std::uint64_t first = Histogram::first_ns(i), next = Histogram::first_ns(i + 1);
    ASSERT_LT(first, next);
    EXPECT_EQ(Histogram::bucket_of(first), i);
    EXPECT_EQ(Histogram::bucket_of(next - 1), i);
    EXPECT_LE(static_cast<double>(next - first), std::max(1.0, static_cast<double>(first) / 8))
        << "bucket " << i;
  }
}

TEST(Histogram, CountsWhatIsTooLongAsTheLongest) {
  Histogram histogram;
  histogram.add(~std::uint64_t{0});
  EXPECT_EQ(histogram.in_bucket(Histogram::kNumBuckets - 1), 1U);
  EXPECT_EQ(histogram.max_ns(), ~std::uint64_t{0});
}

TEST(Histogram, GivesPercentilesWithinItsStep) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> duration(6, 2);
  std::vector<std::uint64_t> values(20000);
  Histogram histogram;
  for (std::uint64_t& value : values)
    histogram.add(value = static_cast<std::uint64_t>(duration(random)));
  std::sort(values.begin(), values.end());
  for (const double share : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(values[static_cast<std::size_t>(share * 20000) - 1]);
    EXPECT_NEAR(histogram.percentile_ns(share), exact, 0.07 * exact + 1) << share;
  }
  EXPECT_EQ(histogram.percentile_ns(1), histogram.percentile_ns(0.99999));
  EXPECT_LE(histogram.percentile_ns(1), static_cast<double>(histogram.max_ns()));
  EXPECT_EQ(Histogram{}.percentile_ns(0.5), 0);
}

TEST(Histogram, OfPartsAddsUpToThatOfTheWhole) {
  Histogram whole, odd, even;
  for (std::uint64_t ns = 0; ns < 5000; ns += 7) {
    whole.add(ns);
    (ns % 2 == 0 ? even : odd).add(ns);
  }
  odd.merge(even);
  EXPECT_EQ(odd.count(), whole.count());
  EXPECT_EQ(odd.sum_ns(), whole.sum_ns());
  EXPECT_EQ(odd.max_ns(), whole.max_ns());
  for (std::size_t i = 0; i < Histogram::kNumBuckets; ++i)
    EXPECT_EQ(odd.in_bucket(i), whole.in_bucket(i));
}

}  // namespace
}  // namespace hierbar

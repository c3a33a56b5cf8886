// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/compare/paired_ratios.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/quartiles.hpp"

namespace hierbar {
namespace {

struct Ranks {
  std::size_t lower;  // from 1
  double confidence;
};

// The range of a median from order statistics (W. J. Conover, Practical Nonparametric Statistics,
// 3rd edition, section 3.2; H. A. David and H. N. Nagaraja, Order Statistics, 3rd edition, section
// 7.1). Each of n values is below the median with probability 1/2, so how many are below it is
// binomial: the median lies between the k-th smallest and the k-th largest value with probability
// 1 - 2 P(B(n, 1/2) <= k - 1). Returns the largest k for which that is kWantedConfidence; 1, the
// lowest value, if there is none.
Ranks ranks_around_median(std::size_t num_values) {
  const double n = static_cast<double>(num_values);
  double probability = std::exp2(-n);  // of exactly k - 1 values below the median
  double tail = probability;           // of k - 1 or fewer
  Ranks ranks{1, 1 - 2 * tail};
  for (std::size_t k = 2; 2 * k <= num_values; ++k) {
    probability *= (n - static_cast<double>(k) + 2) / static_cast<double>(k - 1);
    tail += probability;
    if (1 - 2 * tail < kWantedConfidence) break;
    ranks = {k, 1 - 2 * tail};
  }
  return ranks;
}

double median_of(std::vector<double> values) { return quartiles_of(std::move(values)).median; }

}  // namespace

PairedRatio summarize_pairs(std::vector<double> ratios) {
  if (ratios.empty()) return {};
  std::sort(ratios.begin(), ratios.end());
  const Ranks ranks = ranks_around_median(ratios.size());
  return {.num_pairs = ratios.size(),
          .median = quantile(ratios, 0.5),
          .lower = ratios[ranks.lower - 1],
          .upper = ratios[ratios.size() - ranks.lower],
          .confidence = ranks.confidence};
}

Judgement judge(const PairedRatio& ratio, bool larger_is_better) {
  constexpr double kPrintedAsOne = 0.005;  // two digits are printed
  const bool may_be_equal = ratio.lower <= 1 && ratio.upper >= 1;
  if (ratio.num_pairs < 2 || may_be_equal || std::abs(ratio.median - 1) < kPrintedAsOne)
    return Judgement::kNoDifference;
  return (ratio.median > 1) == larger_is_better ? Judgement::kFaster : Judgement::kSlower;
}

std::size_t count_outliers(const std::vector<double>& values) {
  if (values.size() < kFewestPairsForRange) return 0;
  constexpr double kMostDeviations = 10;
  // The median absolute deviation of a normal distribution, times this, is its standard deviation.
  constexpr double kToStandardDeviation = 1.4826;
  const double middle = median_of(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  const double most = kMostDeviations * kToStandardDeviation * median_of(distances);
  if (most <= 0) return 0;  // most values are equal: the clock is too coarse to tell
  return static_cast<std::size_t>(std::count_if(distances.begin(), distances.end(),
                                                [&](double distance) { return distance > most; }));
}

std::size_t pairs_that_fit(double pair_seconds, double limit_seconds) {
  const double fitting = std::floor(limit_seconds / std::max(pair_seconds, 1e-6));
  const auto num_pairs = static_cast<std::size_t>(
      std::clamp(fitting, static_cast<double>(kFewestPairs), static_cast<double>(kMostPairs)));
  return num_pairs < kFewestPairsForRange ? num_pairs : num_pairs - num_pairs % 2;
}

}  // namespace hierbar

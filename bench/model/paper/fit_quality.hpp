// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

// How well one list of figures predicts another. Both must have the same length.
namespace hierbar::bench::model {

// The mean of |predicted / real - 1|, in %.
inline double mean_error_percent(const std::vector<double>& predicted, const std::vector<double>& real) {
  double sum = 0;
  for (std::size_t i = 0; i < real.size(); ++i) sum += std::abs(predicted[i] / real[i] - 1);
  return 100 * sum / static_cast<double>(real.size());
}

// Ranks from 0 for the least value. Equal values share the mean of their ranks.
inline std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    const auto less = std::count_if(values.begin(), values.end(), [value](double other) { return other < value; });
    const auto equal = std::count(values.begin(), values.end(), value);
    result.push_back(static_cast<double>(less) + static_cast<double>(equal - 1) / 2);
  }
  return result;
}

// Spearman's rank correlation. Each list must have at least two different values.
inline double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

// Standard deviation over mean, in %. It is that of a sample, as in the paper.
inline double variation_percent(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return 100 * std::sqrt(squares / (count - 1)) / mean;
}

// Of the pairs whose real figures differ by more than 10 %, the number that is predicted in the
// right order.
struct PairOrder {
  std::size_t right = 0;
  std::size_t count = 0;
};
inline PairOrder order_of_pairs(const std::vector<double>& predicted, const std::vector<double>& real) {
  PairOrder order;
  for (std::size_t i = 0; i < real.size(); ++i) {
    for (std::size_t j = 0; j < real.size(); ++j) {
      if (real[j] <= 1.1 * real[i]) continue;
      ++order.count;
      order.right += predicted[j] > predicted[i] ? 1U : 0U;
    }
  }
  return order;
}

}  // namespace hierbar::bench::model

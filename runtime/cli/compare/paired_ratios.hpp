// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

namespace hierbar {

// What pairs of runs say about two ways to run a program. A pair is one run each way, close in
// time, so what changes on the machine meanwhile changes both; its ratio is the second way's figure
// by the first one's.
struct PairedRatio {
  std::size_t num_pairs = 0;
  double median = 0;
  // The median of all pairs that could be run lies between these with the probability `confidence`.
  double lower = 0;
  double upper = 0;
  double confidence = 0;
};

// So many pairs are needed for a range of kWantedConfidence.
inline constexpr std::size_t kFewestPairsForRange = 6;
inline constexpr double kWantedConfidence = 0.95;

// All zero if there are no ratios. With fewer than kFewestPairsForRange the range is from the
// lowest to the highest of them, and its confidence is lower.
PairedRatio summarize_pairs(std::vector<double> ratios);

enum class Judgement { kFaster, kSlower, kNoDifference };

// A ratio is a difference if its range does not contain 1 and its median, as it is printed, is not
// 1.00. `larger_is_better`: the figures are rates.
Judgement judge(const PairedRatio& ratio, bool larger_is_better);

// How many values are far from the others: more than 10 standard deviations from the median, by the
// median absolute deviation, as hyperfine counts them. None if there are fewer values than
// kFewestPairsForRange.
std::size_t count_outliers(const std::vector<double>& values);

// How many pairs, or rounds of more than two ways, fit into a time: at least kFewestPairs and at
// most kMostPairs; an even number if there are enough, so that each way comes first as often.
inline constexpr std::size_t kFewestPairs = 3;
inline constexpr std::size_t kMostPairs = 30;
std::size_t pairs_that_fit(double pair_seconds, double limit_seconds);

}  // namespace hierbar

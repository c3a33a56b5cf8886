// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quartiles.hpp"

// Statistics of the benchmarks, as pure functions. They use medians and quartiles, because the
// samples of a shared machine have a long upper tail, which a mean would follow.
namespace hierbar::bench {

struct Summary {
  std::size_t num_samples = 0;
  double minimum = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double maximum = 0;
};

// Nothing if there are no samples.
inline std::optional<Summary> summarize(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  return Summary{samples.size(),         samples.front(),         quantile(samples, 0.25),
                 quantile(samples, 0.5), quantile(samples, 0.75), samples.back()};
}

inline std::optional<double> median(std::vector<double> samples) {
  const auto summary = summarize(std::move(samples));
  if (!summary) return std::nullopt;
  return summary->median;
}

// How far apart two cpus are, judged by the time in which a line travels one way between them. A
// virtual machine's cpus may be near each other at one moment and far apart at the next. The cost
// of a barrier compared with its peers depends on it.
enum class Regime : std::uint8_t { kNear, kMiddle, kFar };

inline constexpr double kNearBelowNs = 80;
inline constexpr double kFarAboveNs = 150;

inline Regime classify_regime(double one_way_ns) {
  if (one_way_ns < kNearBelowNs) return Regime::kNear;
  if (one_way_ns > kFarAboveNs) return Regime::kFar;
  return Regime::kMiddle;
}

inline std::string_view regime_name(Regime regime) {
  switch (regime) {
    case Regime::kNear:
      return "near";
    case Regime::kMiddle:
      return "middle";
    case Regime::kFar:
      return "far";
  }
  return "unknown";
}

// Whether two one-way times belong to one regime. Times on both sides of a border do if they differ
// little: a machine with 79 and 81 ns has not changed. Near and far differ by a factor of about
// four. So a factor of 1.4 is well above noise, and well below a change.
inline constexpr double kSameRegimeFactor = 1.4;

inline bool same_regime(double one_way_ns, double other_one_way_ns) {
  if (classify_regime(one_way_ns) == classify_regime(other_one_way_ns)) return true;
  const auto [low, high] = std::minmax(one_way_ns, other_one_way_ns);
  return high <= low * kSameRegimeFactor;
}

// The one-way time that shares a regime with most of `one_way_ns`. It is the median of the largest
// set of times that share a regime with one of them. Nothing if the list is empty.
inline std::optional<double> prevailing_one_way(std::vector<double> one_way_ns) {
  std::sort(one_way_ns.begin(), one_way_ns.end());
  std::vector<double> best;
  for (const double candidate : one_way_ns) {
    std::vector<double> alike;
    std::copy_if(one_way_ns.begin(), one_way_ns.end(), std::back_inserter(alike),
                 [candidate](double other) { return same_regime(candidate, other); });
    if (alike.size() > best.size()) best = alike;
  }
  return median(best);
}

// Ratios are taken inside each repetition, because what is measured at about the same time is
// disturbed alike.
using SamplesByRepetition = std::map<int, std::vector<double>>;

struct Ratio {
  double value = 0;  // the median of the repetitions' ratios or differences
  double lowest = 0;
  double highest = 0;
};

// Whether the repetitions agree on what a ratio says. Either they differ by less than this factor,
// or all of them are by as much on the same side of 1. On a machine that others use one repetition
// may say 0.02 and the next one 3: no number between them means anything.
inline constexpr double kLargestSpread = 4;

inline bool is_clear(const Ratio& ratio) {
  return ratio.highest <= kLargestSpread * ratio.lowest || ratio.highest * kLargestSpread <= 1 ||
         ratio.lowest >= kLargestSpread;
}

inline std::vector<double> pooled(const SamplesByRepetition& by_repetition) {
  std::vector<double> all;
  for (const auto& [repetition, samples] : by_repetition)
    all.insert(all.end(), samples.begin(), samples.end());
  return all;
}

// Applies `compare` to the medians of `one` and `other` in each repetition that has both. Nothing
// if there is no such repetition.
template <class Compare>
std::optional<Ratio> compare_medians(const SamplesByRepetition& one,
                                     const SamplesByRepetition& other, Compare compare) {
  std::vector<double> results;
  for (const auto& [repetition, samples] : one) {
    const auto partner = other.find(repetition);
    if (partner == other.end()) continue;
    const auto first = median(samples);
    const auto second = median(partner->second);
    if (first && second && *second > 0) results.push_back(compare(*first, *second));
  }
  const auto summary = summarize(results);
  if (!summary) return std::nullopt;
  return Ratio{summary->median, summary->minimum, summary->maximum};
}

inline std::optional<Ratio> ratio_of_medians(const SamplesByRepetition& numerator,
                                             const SamplesByRepetition& denominator) {
  return compare_medians(numerator, denominator,
                         [](double above, double below) { return above / below; });
}

inline std::optional<Ratio> difference_of_medians(const SamplesByRepetition& from,
                                                  const SamplesByRepetition& subtracted) {
  return compare_medians(from, subtracted, [](double more, double less) { return more - less; });
}

}  // namespace hierbar::bench

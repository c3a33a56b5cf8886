// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace hierbar {

// The distribution of samples. On a shared machine it has a long upper tail, which a mean would
// follow.
struct Quartiles {
  double lower = 0;
  double median = 0;
  double upper = 0;
  friend bool operator==(const Quartiles&, const Quartiles&) = default;
};

// The value below which `fraction` (0 to 1) of the samples lie, interpolated between neighbours.
// `sorted` must be ascending and not empty.
inline double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

// All zero if there are no samples.
inline Quartiles quartiles_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.25), quantile(samples, 0.5), quantile(samples, 0.75)};
}

}  // namespace hierbar

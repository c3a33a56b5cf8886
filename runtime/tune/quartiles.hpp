// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace hierbar {

// Where samples lie: a shared machine's have a long upper tail, which a mean would follow.
struct Quartiles {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

// Of no samples: zeros.
inline Quartiles quartiles_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto at = [&samples](double fraction) {
    const double position = fraction * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    return std::lerp(samples[below], samples[std::min(below + 1, samples.size() - 1)], position - static_cast<double>(below));
  };
  return {at(0.25), at(0.5), at(0.75)};
}

}  // namespace hierbar

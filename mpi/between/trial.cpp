// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/trial.hpp"

#include <algorithm>

namespace hierbar::mpi {

Trial::Verdict Trial::judge(const Times& least) const {
  Verdict verdict;
  for (std::size_t method = 0; method < num_methods_; ++method) {
    std::vector<long long> times;
    for (std::size_t meeting = method + num_methods_; meeting < kNumMeetings; meeting += num_methods_)
      times.push_back(least[meeting]);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    verdict.medians_us.push_back(static_cast<double>(*middle) / 1000);
  }
  const auto best = std::min_element(verdict.medians_us.begin(), verdict.medians_us.end());
  if (*best <= verdict.medians_us[0] * (1 - kNeededGain))
    verdict.method = static_cast<std::size_t>(best - verdict.medians_us.begin());
  return verdict;
}

}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/trial.hpp"

#include <algorithm>

namespace hierbar::mpi {

void Trial::record(long long enters_ns, long long leaves_ns) noexcept {
  times_.period[meeting_] = leaves_ns - last_left_ns_;
  times_.minus_period[meeting_] = last_left_ns_ - leaves_ns;
  times_.minus_outside[meeting_] = last_left_ns_ - enters_ns;
  last_left_ns_ = leaves_ns;
  ++meeting_;
}

Trial::Verdict Trial::judge(const Times& least) const {
  std::vector<std::vector<long long>> costs(num_methods_);
  for (std::size_t meeting = 0; meeting < kNumMeetings; ++meeting) {
    if (meeting % kTurn == 0) continue;  // before it another method met, or none
    const long long mean_period = (least.period[meeting] - least.minus_period[meeting]) / 2;
    costs[method_of(meeting)].push_back(std::max(0LL, mean_period + least.minus_outside[meeting]));
  }
  Verdict verdict;
  for (std::vector<long long>& of_method : costs) {
    const auto middle = of_method.begin() + static_cast<std::ptrdiff_t>(of_method.size() / 2);
    std::nth_element(of_method.begin(), middle, of_method.end());
    verdict.medians_us.push_back(static_cast<double>(*middle) / 1000);
  }
  const auto best = std::min_element(verdict.medians_us.begin(), verdict.medians_us.end());
  if (*best <= verdict.medians_us[0] * (1 - kNeededGain))
    verdict.method = static_cast<std::size_t>(best - verdict.medians_us.begin());
  return verdict;
}

}  // namespace hierbar::mpi

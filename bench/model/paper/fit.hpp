// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string_view>

#include "bench/model/paper/paper.hpp"

namespace hierbar::bench::model {

// How freely calibration chooses latencies.
enum class Freedom : std::uint8_t {
  kFree,    // all in their wide ranges
  kPinned,  // latencies published for the machine stay within kPinnedSlack
};
inline constexpr double kPinnedSlack = 0.15;

struct FitOptions {
  Parameters start;  // the published latencies, and the kind of read queue
  Freedom freedom = Freedom::kPinned;
  std::set<Distance> published;  // the latencies that kPinned keeps
  std::uint32_t num_generations = 80;
  std::uint64_t seed = 1;
};

struct Fit {
  Parameters parameters;
  double mean_error = 0;  // mean of |model / paper - 1| over the cells
};

// Searches the parameters with which the trials' periods are nearest to the paper's, by
// differential evolution (R. Storn, K. Price, J. Global Optimization 11, 1997). After each
// generation `progress` gets the number of generations done, and the best error.
Fit fit(PaperTrials& trials, const FitOptions& options,
        const std::function<void(std::uint32_t generation, double best)>& progress);

}  // namespace hierbar::bench::model

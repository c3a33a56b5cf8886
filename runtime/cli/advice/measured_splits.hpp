// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quartiles.hpp"
#include "network/contention/predict.hpp"
#include "network/contention/splits.hpp"

namespace hierbar {

struct PredictedSplit {
  network::Split split;
  network::Prediction prediction;
  std::uint32_t rank = 0;                // in the order of the predicted times, from 1
  std::optional<Quartiles> measured_us;  // of the program's runs
};

// Gives splits what was measured of them. `text` has a line for each run: the split as
// network::describe() writes it, a comma, and microseconds. Lines that begin with # are left out.
// Returns what is wrong with the text, or an empty string.
std::string add_measured(const std::string& text, std::vector<PredictedSplit>& splits);

// How predictions and measurements agree.
struct Agreement {
  std::uint32_t num_splits = 0;       // that were measured; if none, the rest is 0
  double mean_error = 0;              // of |predicted / measured - 1|, of medians
  std::optional<double> kendall_tau;  // over the pairs whose measured quartiles do not overlap
};
Agreement compare_with_measured(const std::vector<PredictedSplit>& splits);

}  // namespace hierbar

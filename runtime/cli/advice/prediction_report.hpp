// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "cli/advice/measured_splits.hpp"
#include "cli/option/channel_costs.hpp"

namespace hierbar {

// What `hierbar predict` found out, to be printed. The splits are in their order, the fastest first.
struct PredictionReport {
  const PredictionRequest& request;
  const std::string& model;
  const std::vector<PredictedSplit>& splits;
};

std::string prediction_as_text(const PredictionReport& report);
std::string prediction_as_json(const PredictionReport& report);

// A page with the times of all splits, and the tables of shared channels as a heat map.
std::string prediction_as_html(const PredictionReport& report);

}  // namespace hierbar

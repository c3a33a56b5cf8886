// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/model/machine/machine_file.hpp"
#include "bench/model/paper/paper.hpp"

namespace hierbar::bench::model {

// ---- how well one list of figures predicts another of the same length ----

// The mean of |predicted / real - 1|, in %.
inline double mean_error_percent(const std::vector<double>& predicted,
                                 const std::vector<double>& real) {
  double sum = 0;
  for (std::size_t i = 0; i < real.size(); ++i) sum += std::abs(predicted[i] / real[i] - 1);
  return 100 * sum / static_cast<double>(real.size());
}

// Ranks from 0 for the least value. Equal values share the mean of their ranks.
inline std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    const auto less = std::count_if(values.begin(), values.end(),
                                    [value](double other) { return other < value; });
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
inline PairOrder order_of_pairs(const std::vector<double>& predicted,
                                const std::vector<double>& real) {
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

// The paper's tables beside the model's, computed for the calibrated machine. A prediction is the
// median over the parameter sets that were trained on the same cells.
struct PaperTable {
  struct SetResult {
    std::string name;
    std::string trained_on;
    std::vector<double> us;  // by cell
    double train_percent = 0;
    double heldout_percent = 0;
  };
  // The result of the sets that were trained without the paper's own algorithm.
  struct WithoutTopo {
    double worst_percent = 0;  // the largest error of the median in a topo cell
    // Whether the medians have NUMA < NUMA-SOCKET < SOCKET in all columns.
    bool right_order = false;
    std::size_t num_sets = 0;
  };
  // topo-NUMA's time divided by that of the engine's plan, in the same parameter set.
  struct Gain {
    std::string set;
    double period = 0;  // the least gain over the mappings
    double isolated = 0;
    double variation_percent = 0;  // of the engine's period over the mappings
  };

  std::vector<Cell> cells;
  std::vector<double> us;  // by cell: the median
  double train_percent = 0;
  double heldout_percent = 0;
  // The error of copying the map-by core column, for numa and socket.
  std::array<double, kNumColumns> null_percent{};
  double null_heldout_percent = 0;
  std::array<double, kNumColumns> spearman{};
  std::array<PairOrder, kNumColumns> pairs{};
  std::array<std::string, kNumColumns> best{};  // the fastest algorithm by the model
  WithoutTopo without_topo;
  std::vector<SetResult> sets;
  std::vector<Gain> gains;
  std::vector<double> all_gains;  // for every set, metric and mapping
  std::uint64_t seed = 0;
};

Result<PaperTable> compute_paper_table(const ModelMachine& machine, std::uint64_t seed);

// Whether the figures meet the targets that the model must meet to be believed. text_of() says
// which targets are missed.
bool meets_targets(const PaperTable& table);

std::string text_of(const PaperTable& table, const ModelMachine& machine);
nlohmann::ordered_json to_json(const PaperTable& table, const ModelMachine& machine);

}  // namespace hierbar::bench::model

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/model/machine/machine_file.hpp"
#include "bench/model/paper/fit_quality.hpp"
#include "bench/model/paper/paper.hpp"

namespace hierbar::bench::model {

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

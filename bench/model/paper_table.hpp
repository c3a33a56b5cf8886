// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/agreement.hpp"
#include "model/machine_file.hpp"
#include "model/paper.hpp"
#include "topology/result.hpp"

namespace hierbar::bench::model {

// The paper's tables beside the model's, computed on the calibrated machine. A prediction is the median over the parameter sets
// that were trained on the same cells.
struct PaperTable {
  struct SetResult {
    std::string name;
    std::string trained_on;
    std::vector<double> us;  // by cell
    double train_percent = 0;
    double heldout_percent = 0;
  };
  // Trained without the paper's own algorithm.
  struct WithoutTopo {
    double worst_percent = 0;  // error of a topo cell, of the median
    bool right_order = false;  // NUMA < NUMA-SOCKET < SOCKET in all columns, of the median
    std::size_t num_sets = 0;
  };
  // The engine's plan against topo-NUMA in the same parameter set.
  struct Gain {
    std::string set;
    double period = 0;  // the least over the mappings
    double isolated = 0;
    double variation_percent = 0;  // of the engine's period over the mappings
  };

  std::vector<Cell> cells;
  std::vector<double> us;  // by cell: the median
  double train_percent = 0;
  double heldout_percent = 0;
  std::array<double, kNumColumns> null_percent{};  // "copy the map-by core column", for numa and socket
  double null_heldout_percent = 0;
  std::array<double, kNumColumns> spearman{};
  std::array<PairOrder, kNumColumns> pairs{};
  std::array<std::string, kNumColumns> best{};  // the algorithm that comes out fastest
  WithoutTopo without_topo;
  std::vector<SetResult> sets;
  std::vector<Gain> gains;
  std::vector<double> all_gains;  // every set, metric and mapping
  std::uint64_t seed = 0;
};

Result<PaperTable> compute_paper_table(const ModelMachine& machine, std::uint64_t seed);

// Whether the figures are what the model must reach to be believed; text_of() says which are not.
bool meets_targets(const PaperTable& table);

std::string text_of(const PaperTable& table, const ModelMachine& machine);
nlohmann::ordered_json to_json(const PaperTable& table, const ModelMachine& machine);

}  // namespace hierbar::bench::model

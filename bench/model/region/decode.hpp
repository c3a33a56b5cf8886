// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/common/decode_graph.hpp"
#include "bench/model/machine/machine_file.hpp"
#include "bench/model/trial/compare.hpp"

namespace hierbar::bench::model {

// A decode with one way to synchronise after each operation. The vectors are by parameter set.
struct DecodePrediction {
  std::string name;
  bool has_regions = false;  // a region for each operation; else one region, and barriers
  std::uint32_t num_threads = 0;
  double ideal_ns = 0;              // the graph's work divided among the threads
  std::vector<double> step_ns;      // one barrier or one region, without work
  std::vector<double> graph_ns;     // ideal_ns and a step for each operation
  std::vector<double> sync_shares;  // of graph_ns: what is not ideal_ns
};

// Predicts decodes with our barrier, with one counter and a sense (what a spin barrier of ggml's
// kind does), with lean regions and with three patterns of unmodified libomp. A step costs what it
// does alone, when all threads enter together, because the work is divided evenly. Threads share no
// core. Errors: those of Scenario::make(), of cost_of(), and how a region failed.
Result<std::vector<DecodePrediction>> predict_decodes(const ModelMachine& machine, Mapping mapping,
                                                      std::uint32_t num_threads,
                                                      const DecodeGraph& graph, std::uint64_t seed,
                                                      const Episodes& episodes = {});

}  // namespace hierbar::bench::model

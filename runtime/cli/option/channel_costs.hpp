// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/quartiles.hpp"
#include "network/contention/predict.hpp"
#include "network/typical_network.hpp"
#include "placement/share/pattern.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// --traffic, --network, --model, --topology: what `predict` and `advise` have in common.
struct PredictionOptions {
  std::string num_ranks;
  std::string traffic;
  std::string matrix;
  std::string alltoall;
  std::string model = "shared";
  std::string network;
  std::string description;
};

// `options` must live as long as the command.
void add_prediction_options(CLI::App& command, PredictionOptions& options);

// What shared channels cost on the chosen machine.
struct ChannelCosts {
  network::Contention contention;
  network::Parameters parameters;
  std::string source;
  const network::TypicalNetwork* typical = nullptr;  // if they are of one
};

// What a prediction is made from.
struct PredictionRequest {
  std::uint32_t num_ranks = 0;
  network::Traffic traffic;
  network::Model model = network::Model::kShared;
  Machine machine;
  ChannelCosts costs;
};

// Reads the options. A bad one ends the command: no such number of ranks, pattern or algorithm, a
// matrix that cannot be read or has another size, no file of costs, one without shared channels, or
// one of another machine.
PredictionRequest read_prediction_request(const CLI::App& command,
                                          const PredictionOptions& options);

// "EPYC 9354, 64 cores": what a file of costs says of the machine on which it was measured.
std::string machine_identity(const Machine& machine);

// Where each rank is if every node is such a machine and places its ranks by `pattern`, each with
// `num_threads` threads. A level that the machine lacks counts as the next larger one; without an
// L3, cores are L3s of their own. Errors: those of place_ranks().
Result<std::vector<network::Spot>> spots_of(const Machine& machine, Pattern pattern,
                                            const network::Split& split, std::uint32_t num_threads);

// The most ranks that a node of this machine takes: one for each core.
std::uint32_t num_cores(const Machine& machine);

inline nlohmann::ordered_json quartiles_json(const Quartiles& value) {
  return {{"q1", value.lower}, {"median", value.median}, {"q3", value.upper}};
}

}  // namespace hierbar

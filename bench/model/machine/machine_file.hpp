// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/model/machine/machine.hpp"
#include "topology/machine.hpp"

namespace hierbar::bench::model {

// One possible set of the machine's costs. There are several sets, because the measurements do not
// determine all costs. A result that all sets share may be believed.
struct ParameterSet {
  std::string name;
  std::string trained_on;  // kTraining or kTrainingWithoutTopo: the paper's cells; see paper.hpp
  std::uint64_t seed = 0;
  std::uint32_t num_generations = 0;
  bool is_pinned = false;
  Parameters parameters;
};
inline constexpr const char* kTraining = "training";
inline constexpr const char* kTrainingWithoutTopo = "training-without-topo";

// A simulated machine: a file of bench/model/machines, or what --topology and --c2c describe.
struct ModelMachine {
  std::string name;      // "kunpeng920"
  std::string title;     // "2 x Kunpeng 920-6426"
  std::string topology;  // the argument for the topology loader
  Machine machine;
  std::array<std::optional<double>, kNumDistances> published{};  // latencies, ns
  std::string provenance;
  std::string costs_from;  // the machine whose other costs are used; empty: this one
  std::vector<ParameterSet> sets;
};

// The machine whose costs are fitted to measured barriers.
inline constexpr const char* kCalibratedMachine = "kunpeng920";

// The directory of the machine files: share/hierbar/machines beside the program's bin.
std::filesystem::path machine_dir();
std::vector<std::string> machine_names();

// Loads a machine by its name, or by the path of its file, which ends in .json. Errors: there is no
// such file, or what is wrong in it.
Result<ModelMachine> load_model_machine(const std::string& name_or_path);

// A machine from a topology and a matrix of latencies in CSV. Row i, column j is the latency
// between cpus i and j, in ns one way; one triangle is enough. An empty path means that there is no
// matrix. Latencies that the matrix does not have, and all other costs, are those of
// kCalibratedMachine. Errors: those of load_described_machine() and of read_latency_matrix().
Result<ModelMachine> describe_model_machine(const std::string& topology,
                                            const std::string& c2c_path);

// The part of a machine's file before its parameter sets.
nlohmann::ordered_json machine_header(const ModelMachine& machine);
nlohmann::ordered_json to_json(const ParameterSet& set);
const char* read_queue_name(ReadQueue queue);  // "per-domain", "global"

}  // namespace hierbar::bench::model

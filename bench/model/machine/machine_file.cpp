// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/machine/machine_file.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "bench/common/run_options.hpp"
#include "bench/model/machine/machine.hpp"
#include "topology/load.hpp"

namespace hierbar::bench::model {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "hierbar-model-machine-1";
// For all machines here: two lines of 64 bytes that a prefetcher fetches together, or one line.
constexpr std::uint32_t kLineBytes = 128;

ParameterSet set_from_json(const json& file) {
  ParameterSet set;
  set.name = file.at("name");
  set.trained_on = file.at("trained_on");
  set.seed = file.at("seed");
  set.num_generations = file.at("generations");
  set.is_pinned = file.at("pinned");
  if (set.trained_on != kTraining && set.trained_on != kTrainingWithoutTopo) {
    throw std::runtime_error("trained_on: '" + set.trained_on + "'; allowed: " + kTraining + ", " +
                             kTrainingWithoutTopo);
  }
  const std::string queue = file.at("read_queue");
  if (queue != "per-domain" && queue != "global") {
    throw std::runtime_error("read_queue: '" + queue + "'; allowed: per-domain, global");
  }
  set.parameters.read_queue = queue == "global" ? ReadQueue::kGlobal : ReadQueue::kPerDomain;
  for (const ParameterInfo& info : parameter_infos()) {
    const double value = file.at("costs").at(std::string(info.name));
    if (!(value >= 0 && value <= 1e6)) {
      throw std::runtime_error(std::string(info.name) + ": '" + std::to_string(value) +
                               "'; allowed: 0 to 1e6");
    }
    value_of(set.parameters, info) = value;
  }
  return set;
}

// Takes the calibrated machine's costs, but keeps the latencies that are known for `machine`.
void borrow_costs(ModelMachine& machine, const ModelMachine& from) {
  machine.costs_from = from.name;
  machine.sets = from.sets;
  for (ParameterSet& set : machine.sets) {
    for (std::size_t i = 0; i < kNumDistances; ++i) {
      if (machine.published[i]) set.parameters.latency[i] = *machine.published[i];
    }
    if (!machine.published[static_cast<std::size_t>(Distance::kCluster)]) {
      set.parameters.latency[static_cast<std::size_t>(Distance::kCluster)] =
          set.parameters.latency[static_cast<std::size_t>(Distance::kDomain)];
    }
  }
}

ModelMachine machine_from_json(const json& file) {
  if (file.at("format") != kFormat) {
    throw std::runtime_error("format: '" + file.at("format").get<std::string>() +
                             "'; allowed: " + kFormat);
  }
  ModelMachine machine;
  machine.name = file.at("name");
  machine.title = file.at("title");
  machine.topology = file.at("topology");
  machine.provenance = file.at("provenance");
  for (const auto& [name, value] : file.at("latency_ns").items()) {
    const auto found = std::find(kDistanceNames.begin(), kDistanceNames.end(), name);
    if (found == kDistanceNames.end()) {
      throw std::runtime_error("latency_ns: '" + name +
                               "'; allowed: core, cluster, domain, package, machine");
    }
    machine.published[static_cast<std::size_t>(found - kDistanceNames.begin())] =
        value.get<double>();
  }
  Result<Machine> loaded = load_described_machine(machine.topology);
  if (!loaded) throw std::runtime_error("topology: " + loaded.error());
  machine.machine = *std::move(loaded);
  machine.machine.line_bytes = kLineBytes;
  machine.costs_from = file.value("costs_from", "");
  if (machine.costs_from.empty()) {
    for (const json& set : file.at("parameter_sets")) machine.sets.push_back(set_from_json(set));
  } else {
    const Result<ModelMachine> from = load_model_machine(machine.costs_from);
    if (!from) throw std::runtime_error("costs_from: " + from.error());
    borrow_costs(machine, *from);
  }
  if (machine.sets.empty()) throw std::runtime_error("parameter_sets: none");
  return machine;
}

}  // namespace

const char* read_queue_name(ReadQueue queue) {
  return queue == ReadQueue::kGlobal ? "global" : "per-domain";
}

std::filesystem::path machine_dir() {
  return prefix_of_program() / "share" / "hierbar" / "machines";
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(machine_dir(), error)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<ModelMachine> load_model_machine(const std::string& name_or_path) {
  const bool is_path = name_or_path.ends_with(".json");
  const std::filesystem::path path =
      is_path ? std::filesystem::path(name_or_path) : machine_dir() / (name_or_path + ".json");
  std::ifstream stream(path);
  if (!stream) {
    std::string text =
        "'" + name_or_path + "': no such machine; allowed: a file that ends in .json, or";
    for (const std::string& name : machine_names()) text += " " + name;
    return Error{text};
  }
  try {
    return machine_from_json(json::parse(stream));
  } catch (const std::exception& problem) {
    return Error{path.string() + ": " + problem.what()};
  }
}

Result<ModelMachine> describe_model_machine(const std::string& topology,
                                            const std::string& c2c_path) {
  Result<Machine> loaded = load_described_machine(topology);
  if (!loaded) return Error{loaded.error()};
  const Result<ModelMachine> calibrated = load_model_machine(kCalibratedMachine);
  if (!calibrated) return Error{calibrated.error()};
  ModelMachine machine;
  machine.name = machine.title = machine.topology = topology;
  machine.machine = *std::move(loaded);
  machine.machine.line_bytes = std::max(machine.machine.line_bytes, kLineBytes);
  machine.provenance = "latencies: those of " + calibrated->title;
  if (!c2c_path.empty()) {
    const Result<LatencyMedians> medians = read_latency_matrix(c2c_path, machine.machine);
    if (!medians) return Error{c2c_path + ": " + medians.error()};
    machine.published = *medians;
    machine.provenance = "latencies: medians of " + c2c_path;
  }
  borrow_costs(machine, *calibrated);
  return machine;
}

nlohmann::ordered_json machine_header(const ModelMachine& machine) {
  nlohmann::ordered_json latencies;
  for (std::size_t i = 0; i < kNumDistances; ++i) {
    if (machine.published[i]) latencies[std::string(kDistanceNames[i])] = *machine.published[i];
  }
  return {{"format", kFormat},       {"name", machine.name},
          {"title", machine.title},  {"topology", machine.topology},
          {"latency_ns", latencies}, {"provenance", machine.provenance}};
}

nlohmann::ordered_json to_json(const ParameterSet& set) {
  nlohmann::ordered_json costs;
  for (const ParameterInfo& info : parameter_infos()) {
    // Rounded to six decimals.
    costs[std::string(info.name)] = std::stod(std::to_string(value_of(set.parameters, info)));
  }
  return {{"name", set.name},        {"trained_on", set.trained_on},
          {"pinned", set.is_pinned}, {"read_queue", read_queue_name(set.parameters.read_queue)},
          {"seed", set.seed},        {"generations", set.num_generations},
          {"costs", costs}};
}

}  // namespace hierbar::bench::model

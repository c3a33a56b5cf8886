// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/export/machine_json.hpp"

#include "topology/machine.hpp"

namespace hierbar {
namespace {

using nlohmann::ordered_json;

ordered_json names(std::uint32_t labels) {
  ordered_json array = ordered_json::array();
  for (int level = 0; level < kNumLevels; ++level) {
    if (((labels >> level) & 1U) != 0) array.push_back(level_name(static_cast<Level>(level)));
  }
  return array;
}

ordered_json unit_to_json(const Unit& unit, std::uint32_t active) {
  ordered_json json;
  json["labels"] = names(unit.labels);
  json["active"] = names(unit.labels & active);
  json["cpus"] = unit.cpus.to_string();
  json["num_cpus"] = unit.cpus.count();
  json["depth"] = unit.depth;
  json["parent"] = unit.parent < 0 ? ordered_json() : ordered_json(unit.parent);
  json["children"] = unit.children;
  return json;
}

}  // namespace

ordered_json to_json(const Machine& machine) {
  const std::vector<Level> active = active_levels(machine);
  const CpuSet allowed_cores = machine.one_cpu_per_core(machine.allowed);

  ordered_json json;
  json["name"] = machine.name;
  json["num_cores"] = machine.one_cpu_per_core(machine.present).count();
  json["num_cpus"] = machine.present.count();
  json["present"] = machine.present.to_string();
  json["allowed"] = machine.allowed.to_string();
  json["line_bytes"] = machine.line_bytes;
  json["l3_bytes"] = machine.l3_bytes;
  json["load_ns"] = machine.load_ns;
  json["active_levels"] = ordered_json::array();
  for (const Level level : active) json["active_levels"].push_back(level_name(level));
  json["warnings"] = machine.warnings;
  json["units"] = ordered_json::array();
  for (const Unit& unit : machine.units) {
    const bool shared = (unit.cpus & allowed_cores).count() >= 2;
    json["units"].push_back(unit_to_json(unit, shared ? label_bits(active) : 0));
  }
  return json;
}

}  // namespace hierbar

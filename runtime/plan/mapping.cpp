// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/mapping.hpp"

#include <map>
#include <string>

#include "plan/locality.hpp"

namespace hierbar {
namespace {

using Core = std::vector<std::uint32_t>;  // its allowed cpus, ascending

// The cores that have an allowed cpu, in topology order. There is one element for each unit of the
// level that has such cores, and one more for cores outside of every such unit.
std::vector<std::vector<Core>> cores_by_unit(const Machine& machine, Level level) {
  std::vector<std::vector<Core>> result;
  std::map<int, std::size_t> position_of_unit;
  for (const Unit& unit : machine.units) {
    if (!unit.children.empty()) continue;
    const CpuSet cpus = unit.cpus & machine.allowed;
    if (cpus.empty()) continue;
    const int enclosing = enclosing_unit(machine, locate(machine, cpus), level);
    const auto [position, is_new] = position_of_unit.try_emplace(enclosing, result.size());
    if (is_new) result.emplace_back();
    result[position->second].emplace_back(cpus.begin(), cpus.end());
  }
  return result;
}

Level round_robin_level(Mapping mapping) {
  switch (mapping) {
    case Mapping::kNuma:
      return Level::kNuma;
    case Mapping::kPackage:
      return Level::kPackage;
    default:
      return Level::kMachine;
  }
}

}  // namespace

Result<Mapping> parse_mapping(std::string_view name) {
  if (name == "core") return Mapping::kCore;
  if (name == "numa") return Mapping::kNuma;
  if (name == "package") return Mapping::kPackage;
  if (name == "none") return Mapping::kNone;
  return Error{"unknown mapping"};
}

Result<std::vector<CpuSet>> map_participants(const Machine& machine, Mapping mapping, std::uint32_t num_participants) {
  std::vector<CpuSet> bindings(num_participants);
  if (mapping == Mapping::kNone) return bindings;

  const std::vector<std::vector<Core>> units = cores_by_unit(machine, round_robin_level(mapping));
  if (units.empty()) return Error{"no cpu of the machine is allowed"};
  for (std::uint32_t i = 0; i < num_participants; ++i) {
    const std::vector<Core>& cores = units[i % units.size()];
    const std::size_t turn = i / units.size();  // how many participants this unit has already
    const Core& core = cores[turn % cores.size()];
    bindings[i].set(core[turn / cores.size() % core.size()]);
  }
  return bindings;
}

}  // namespace hierbar

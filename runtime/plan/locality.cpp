// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/locality.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

namespace hierbar {

int LocalityPath::unit_at_depth(int depth) const {
  const int deepest = static_cast<int>(units.size()) - 1;
  return depth <= deepest ? units[deepest - depth] : -1;
}

LocalityPath locate(const Machine& machine, const CpuSet& binding) {
  LocalityPath path;
  const int smallest = machine.smallest_unit_containing(binding);
  if (smallest < 0) return path;
  path.bound = true;
  path.units.clear();
  for (int unit = smallest; unit >= 0; unit = machine.units[unit].parent)
    path.units.push_back(unit);
  return path;
}

std::vector<LocalityPath> locate_all(const Machine& machine, const std::vector<CpuSet>& bindings) {
  std::vector<LocalityPath> paths;
  paths.reserve(bindings.size());
  for (const CpuSet& binding : bindings) paths.push_back(locate(machine, binding));
  return paths;
}

int enclosing_unit(const Machine& machine, const LocalityPath& path, Level level) {
  for (const int unit : path.units) {
    if (machine.units[unit].has(level)) return unit;
  }
  return -1;
}

int shared_depth(const Machine& machine, int unit_a, int unit_b) {
  const auto unit = [&machine](int index) -> const Unit& { return machine.units[index]; };
  while (unit_a != unit_b) {
    int& deeper = unit(unit_a).depth >= unit(unit_b).depth ? unit_a : unit_b;
    deeper = unit(deeper).parent;
  }
  return unit(unit_a).depth;
}

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

Result<std::vector<CpuSet>> map_participants(const Machine& machine, Mapping mapping,
                                             std::uint32_t num_participants) {
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

namespace {

int domain_of(const Machine& machine, const LocalityPath& path, Level level) {
  int smallest_shared = 0;
  for (const int index : path.units) {
    const Unit& unit = machine.units[index];
    if (!is_shared_by_cores(unit)) continue;
    if (unit.has(level)) return index;
    if (smallest_shared == 0) smallest_shared = index;
  }
  return smallest_shared;
}

}  // namespace

Level domain_level(const Machine& machine, std::optional<Level> wanted) {
  if (wanted) return *wanted;
  const auto exists = [&machine](Level level, std::size_t first_unit) {
    return std::any_of(
        machine.units.begin() + static_cast<std::ptrdiff_t>(first_unit), machine.units.end(),
        [level](const Unit& unit) { return unit.has(level) && is_shared_by_cores(unit); });
  };
  // One L3 under everything makes everything one domain. A single NUMA node or package says nothing
  // (first_unit 1 leaves out the machine's own unit), and the next level may say more.
  if (exists(Level::kL3, 0)) return Level::kL3;
  if (exists(Level::kNuma, 1)) return Level::kNuma;
  if (exists(Level::kPackage, 1)) return Level::kPackage;
  return Level::kMachine;
}

std::vector<Domain> partition_into_domains(const Machine& machine,
                                           const std::vector<LocalityPath>& paths, Level level) {
  std::vector<int> domain_units(paths.size());
  std::transform(paths.begin(), paths.end(), domain_units.begin(),
                 [&](const LocalityPath& path) { return domain_of(machine, path, level); });

  // Units are numbered in the order in which a walk visits the tree.
  Members order(paths.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) {
    return std::tuple(domain_units[i], paths[i].smallest(), i);
  };
  std::sort(order.begin(), order.end(),
            [&key](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });

  std::vector<Domain> domains;
  for (const std::uint32_t participant : order) {
    const int unit = domain_units[participant];
    if (domains.empty() || domains.back().unit != unit) domains.push_back(Domain{unit, {}});
    domains.back().members.push_back(participant);
  }
  return domains;
}

}  // namespace hierbar

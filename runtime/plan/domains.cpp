// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/domains.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>

namespace hierbar {
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
    return std::any_of(machine.units.begin() + static_cast<std::ptrdiff_t>(first_unit), machine.units.end(),
                       [level](const Unit& unit) { return unit.has(level) && is_shared_by_cores(unit); });
  };
  // One L3 under everything makes everything one domain. A single NUMA node or package says nothing
  // (first_unit 1 leaves out the machine's own unit), and the next level may say more.
  if (exists(Level::kL3, 0)) return Level::kL3;
  if (exists(Level::kNuma, 1)) return Level::kNuma;
  if (exists(Level::kPackage, 1)) return Level::kPackage;
  return Level::kMachine;
}

std::vector<Domain> partition_into_domains(const Machine& machine, const std::vector<LocalityPath>& paths, Level level) {
  std::vector<int> domain_units(paths.size());
  std::transform(paths.begin(), paths.end(), domain_units.begin(),
                 [&](const LocalityPath& path) { return domain_of(machine, path, level); });

  // Units are numbered in the order in which a walk visits the tree.
  Members order(paths.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) { return std::tuple(domain_units[i], paths[i].smallest(), i); };
  std::sort(order.begin(), order.end(), [&key](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });

  std::vector<Domain> domains;
  for (const std::uint32_t participant : order) {
    const int unit = domain_units[participant];
    if (domains.empty() || domains.back().unit != unit) domains.push_back(Domain{unit, {}});
    domains.back().members.push_back(participant);
  }
  return domains;
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/levels.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace hierbar {
namespace {

constexpr std::array<const char*, kNumLevels> kNames = {"core", "l2", "cluster", "l3", "die", "numa", "package", "machine"};

// In the order in which they are kept; a later one that divides the cores alike is left out.
constexpr std::array kCandidates = {Level::kNuma, Level::kPackage, Level::kL3, Level::kDie, Level::kL2};

// How one level divides the cores.
struct Division {
  Level level;
  std::vector<CpuSet> groups;  // the units with two or more of the cores, as these cores
  std::uint32_t largest = 0;   // cores in the largest one
};

Division divide(const Machine& machine, Level level, const CpuSet& cores) {
  Division division{level, {}, 0};
  for (const Unit& unit : machine.units) {
    if (!unit.has(level)) continue;
    CpuSet group = unit.cpus & cores;
    const std::uint32_t size = group.count();
    if (size < 2) continue;
    division.groups.push_back(std::move(group));
    division.largest = std::max(division.largest, size);
  }
  return division;
}

}  // namespace

const char* level_name(Level level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<Level> parse_level(std::string_view name) {
  const auto same = [name](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(),
                      [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
  };
  if (same("socket")) return Level::kPackage;
  const auto found = std::find_if(kNames.begin(), kNames.end(), same);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Level>(found - kNames.begin());
}

std::vector<Level> active_levels(const Machine& machine) {
  const CpuSet cores = machine.one_cpu_per_core(machine.allowed);
  std::vector<Division> kept;
  for (const Level level : kCandidates) {
    Division division = divide(machine, level, cores);
    const bool repeats =
        std::any_of(kept.begin(), kept.end(), [&](const Division& other) { return other.groups == division.groups; });
    if (!division.groups.empty() && !repeats) kept.push_back(std::move(division));
  }
  // By size, not by name: a NUMA node may contain several packages, or be a part of an L3.
  std::sort(kept.begin(), kept.end(), [](const Division& a, const Division& b) {
    if (a.largest != b.largest) return a.largest < b.largest;
    if (a.groups.size() != b.groups.size()) return a.groups.size() < b.groups.size();
    return a.level < b.level;
  });
  std::vector<Level> levels;
  for (const Division& division : kept) levels.push_back(division.level);
  return levels;
}

std::uint32_t label_bits(const std::vector<Level>& levels) {
  std::uint32_t bits = 0;
  for (const Level level : levels) bits |= label_bit(level);
  return bits;
}

}  // namespace hierbar

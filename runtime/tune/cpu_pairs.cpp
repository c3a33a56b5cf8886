// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/cpu_pairs.hpp"

#include <algorithm>
#include <map>
#include <random>

namespace hierbar {
namespace {

constexpr Level kNearestFirst[] = {Level::kCore, Level::kL2,   Level::kCluster, Level::kL3,
                                   Level::kDie,  Level::kNuma, Level::kPackage, Level::kMachine};
// A unit without labels usually lies between cores and an L3. It sorts before "l3", which also is
// 3.
constexpr int kGroup = 3;

// What two cpus share if this is the smallest unit that holds both. If the unit has several labels,
// the nearest one counts.
std::pair<int, const char*> kind_of(const Unit& unit) {
  if (unit.children.empty()) return {0, level_name(Level::kCore)};
  for (int i = 0; i < kNumLevels; ++i) {
    if (unit.has(kNearestFirst[i])) return {i, level_name(kNearestFirst[i])};
  }
  return {kGroup, "group"};
}

// The parts of a unit. Two cpus of different parts have the distance of this unit. The parts are
// the unit's children or, in a core, its cpus.
std::vector<CpuSet> parts_of(const Machine& machine, const Unit& unit) {
  std::vector<CpuSet> parts;
  for (const int child : unit.children) parts.push_back(machine.units[child].cpus & machine.allowed);
  if (unit.children.empty()) {
    for (const std::uint32_t cpu : unit.cpus & machine.allowed) parts.push_back(CpuSet::range(cpu, cpu));
  }
  std::erase_if(parts, [](const CpuSet& part) { return part.empty(); });
  return parts;
}

std::uint32_t member(const CpuSet& cpus, std::size_t index) {
  auto cpu = cpus.begin();
  for (; index > 0; --index) ++cpu;
  return *cpu;
}

}  // namespace

std::vector<PairClass> sample_pairs(const Machine& machine, std::size_t most_pairs) {
  using Parts = std::vector<CpuSet>;
  std::map<std::pair<int, std::string>, std::vector<Parts>> units_of_kind;
  for (const Unit& unit : machine.units) {
    Parts parts = parts_of(machine, unit);
    if (parts.size() >= 2) units_of_kind[kind_of(unit)].push_back(std::move(parts));
  }
  std::mt19937 random(1);
  // Not a standard distribution: their results differ from one C++ library to another.
  const auto below = [&random](std::size_t bound) { return random() % bound; };
  std::vector<PairClass> classes;
  for (const auto& [kind, units] : units_of_kind) {
    PairClass found{kind.second, kind.first, {}};
    // Twice as many tries as pairs, because a class may have fewer pairs.
    for (std::size_t i = 0; i < 2 * most_pairs && found.pairs.size() < most_pairs; ++i) {
      const Parts& parts =
          units[i < units.size() && units.size() > most_pairs ? i * units.size() / most_pairs % units.size() : i % units.size()];
      const std::size_t a = below(parts.size());
      const std::size_t b = (a + 1 + below(parts.size() - 1)) % parts.size();
      const CpuPair pair = std::minmax(member(parts[a], below(parts[a].count())), member(parts[b], below(parts[b].count())));
      if (std::find(found.pairs.begin(), found.pairs.end(), pair) == found.pairs.end()) found.pairs.push_back(pair);
    }
    classes.push_back(std::move(found));
  }
  return classes;
}

}  // namespace hierbar

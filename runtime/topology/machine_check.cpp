// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/machine_check.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hierbar {
namespace {

std::string unit_name(std::size_t unit) { return "unit " + std::to_string(unit); }

// Checks a unit against its parent, which has been checked.
std::string place_problem(const Machine& machine, std::size_t index) {
  const Unit& unit = machine.units[index];
  if (unit.parent < 0 || static_cast<std::size_t>(unit.parent) >= index) return unit_name(index) + " comes before its parent";
  const Unit& parent = machine.units[static_cast<std::size_t>(unit.parent)];
  if (unit.depth != parent.depth + 1) return unit_name(index) + " is not one level below its parent";
  if (unit.cpus.empty() || unit.cpus == parent.cpus || !unit.cpus.is_subset_of(parent.cpus)) {
    return unit_name(index) + " is no part of its parent";
  }
  return "";
}

// Checks the children of a unit: they divide it, in the order of a walk.
std::string children_problem(const Machine& machine, std::size_t index) {
  const Unit& unit = machine.units[index];
  CpuSet covered;
  int before = static_cast<int>(index);
  for (const int child : unit.children) {
    if (child <= before || static_cast<std::size_t>(child) >= machine.units.size())
      return "the children of " + unit_name(index) + " are out of order";
    if (machine.units[static_cast<std::size_t>(child)].parent != static_cast<int>(index))
      return unit_name(index) + " has another unit's child";
    const CpuSet& cpus = machine.units[static_cast<std::size_t>(child)].cpus;
    if (cpus.intersects(covered)) return "two parts of " + unit_name(index) + " overlap";
    covered |= cpus;
    before = child;
  }
  const bool is_core = unit.has(Level::kCore);
  if (unit.children.empty() != is_core) return unit_name(index) + (is_core ? " is a core with parts" : " has no core");
  return is_core || covered == unit.cpus ? "" : unit_name(index) + " has cpus in none of its parts";
}

// Checks that each label occurs at most once on the path from the machine to a core.
std::string label_problem(const Machine& machine) {
  std::vector<std::uint32_t> above(machine.units.size(), 0);
  for (std::size_t i = 0; i < machine.units.size(); ++i) {
    const Unit& unit = machine.units[i];
    if (i > 0)
      above[i] = above[static_cast<std::size_t>(unit.parent)] | machine.units[static_cast<std::size_t>(unit.parent)].labels;
    if (unit.labels >> kNumLevels != 0) return unit_name(i) + " has a label that is unknown";
    if ((unit.labels & above[i]) != 0) return unit_name(i) + " has a label of a unit around it";
  }
  return "";
}

}  // namespace

std::string machine_problem(const Machine& machine) {
  if (machine.present.empty() || machine.present.last() >= static_cast<int>(kMaxMachineCpus)) {
    return "its cpus are not 1 to " + std::to_string(kMaxMachineCpus);
  }
  if (!machine.allowed.is_subset_of(machine.present)) return "cpus are allowed that are not there";
  if (machine.line_bytes == 0 || machine.line_bytes > kMaxLineBytes) {
    return "lines of " + std::to_string(machine.line_bytes) + " bytes; allowed: 1 to " + std::to_string(kMaxLineBytes);
  }
  if (machine.units.empty() || machine.units[0].cpus != machine.present || machine.units[0].parent != -1 ||
      machine.units[0].depth != 0 || (machine.units[0].labels & label_bit(Level::kMachine)) == 0) {
    return "its first unit is not the machine";
  }
  for (std::size_t i = 1; i < machine.units.size(); ++i) {
    if (std::string problem = place_problem(machine, i); !problem.empty()) return problem;
  }
  for (std::size_t i = 0; i < machine.units.size(); ++i) {
    if (std::string problem = children_problem(machine, i); !problem.empty()) return problem;
  }
  return label_problem(machine);
}

}  // namespace hierbar

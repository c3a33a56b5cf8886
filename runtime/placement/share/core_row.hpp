// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {

// Where shares are cut best, the best first.
inline constexpr std::array kCutLevels = {Level::kPackage, Level::kNuma, Level::kL3};

// The pool as a row of cores or cpus, in the order of the tree.
class CoreRow {
 public:
  CoreRow(const Machine& machine, const CpuSet& pool, std::size_t num_ranks) {
    for (const Unit& unit : machine.units) {
      const CpuSet cpus = unit.cpus & pool;
      if (unit.children.empty() && !cpus.empty()) items_.push_back(cpus);
    }
    if (items_.size() < num_ranks) split_cores();
    find_edges(machine);
  }

  std::size_t size() const { return items_.size(); }

  // For a cut in front of item `position`: 1 for each of kCutLevels that has an edge there.
  const std::array<int, kCutLevels.size()>& edges(std::size_t position) const { return edges_[position]; }

  CpuSet part(std::size_t begin, std::size_t end) const {
    CpuSet result;
    for (std::size_t i = begin; i < end; ++i) result |= items_[i];
    return result;
  }

 private:
  void split_cores() {
    std::vector<CpuSet> cpus;
    for (const CpuSet& core : items_) {
      for (const std::uint32_t cpu : core) cpus.push_back(CpuSet::range(cpu, cpu));
    }
    items_ = std::move(cpus);
  }

  void find_edges(const Machine& machine) {
    edges_.resize(items_.size() + 1);
    for (std::size_t level = 0; level < kCutLevels.size(); ++level) {
      std::vector<int> unit_of(items_.size(), -1);
      for (std::size_t unit = 0; unit < machine.units.size(); ++unit) {
        if (!machine.units[unit].has(kCutLevels[level])) continue;
        for (std::size_t i = 0; i < items_.size(); ++i) {
          if (items_[i].intersects(machine.units[unit].cpus)) unit_of[i] = static_cast<int>(unit);
        }
      }
      for (std::size_t i = 1; i < items_.size(); ++i) edges_[i][level] = unit_of[i] != unit_of[i - 1] ? 1 : 0;
    }
  }

  std::vector<CpuSet> items_;
  std::vector<std::array<int, kCutLevels.size()>> edges_;
};

}  // namespace hierbar

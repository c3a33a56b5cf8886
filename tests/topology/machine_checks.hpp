// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "topology/levels.hpp"
#include "topology/load.hpp"

// What tests of particular machines ask of them.
namespace hierbar::test {

inline Machine load(const std::string& description) {
  Result<Machine> machine = load_described_machine(description);
  EXPECT_TRUE(machine.ok()) << (machine.ok() ? "" : machine.error());
  return machine.ok() ? *std::move(machine) : Machine{};
}

// Number of units with the label, and of cores in each of them if that is the same for all, else 0.
inline std::pair<int, int> count(const Machine& machine, Level level) {
  const CpuSet cores = machine.one_cpu_per_core(machine.present);
  int num_units = 0;
  int size = -1;
  for (const Unit& unit : machine.units) {
    if (!unit.has(level)) continue;
    const int num_cores = static_cast<int>((unit.cpus & cores).count());
    size = size == -1 || size == num_cores ? num_cores : 0;
    ++num_units;
  }
  return {num_units, size};
}

inline std::pair<int, int> units_of(int num_units, int num_cores) { return {num_units, num_cores}; }

inline void expect_kunpeng(const Machine& machine) {
  EXPECT_EQ(count(machine, Level::kCore), units_of(128, 1));
  EXPECT_EQ(count(machine, Level::kCluster), units_of(32, 4));
  EXPECT_EQ(count(machine, Level::kL3), units_of(4, 32));
  EXPECT_EQ(count(machine, Level::kNuma), units_of(4, 32));
  EXPECT_EQ(count(machine, Level::kPackage), units_of(2, 64));
  EXPECT_THAT(active_levels(machine), testing::ElementsAre(Level::kNuma, Level::kPackage));
}

}  // namespace hierbar::test

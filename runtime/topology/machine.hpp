// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/cpu_set.hpp"

namespace hierbar {

// A level of the machine that has a name. One set of cpus may have several labels (on Kunpeng 920
// an L3 is also a NUMA node).
enum class Level : std::uint8_t { kCore, kL2, kCluster, kL3, kDie, kNuma, kPackage, kMachine };
inline constexpr int kNumLevels = 8;
constexpr std::uint32_t label_bit(Level level) { return 1U << static_cast<int>(level); }

// Limits for every machine, whoever describes it. Linux has at most 8192 cpus. The longest known
// cache lines have 256 bytes, and a page must hold one.
inline constexpr std::uint32_t kMaxMachineCpus = 1U << 13;
inline constexpr std::uint32_t kMaxLineBytes = 4096;

// A set of cpus that share something. Units are the *distinct nested* cpusets of the machine. So a
// level that adds nothing (one L3 for each package) is a second label of the same unit, and never a
// unit of its own.
struct Unit {
  CpuSet cpus;               // every present cpu below, by the operating system's number
  std::uint32_t labels = 0;  // the sum of label_bit() of its labels
  int parent = -1;           // index into Machine::units; -1 for the machine itself
  std::vector<int> children;
  int depth = 0;  // 0 for the machine

  bool has(Level level) const { return (labels & label_bit(level)) != 0; }
};

// The machine as plain data, without hwloc. units[0] is the whole machine. Parents come before
// their children. The order is that of a walk through the tree, so neighbours are next to each
// other. The leaves are the cores: every present cpu is in exactly one of them.
struct Machine {
  std::vector<Unit> units;
  CpuSet present;                     // online cpus
  CpuSet allowed;                     // those this process may use
  std::uint32_t line_bytes = 64;      // the longest cache line of any level; 64 if unknown
  std::uint32_t l3_bytes = 0;         // 0 if unknown
  std::string name;                   // for people: cpu model, or XML file or synthetic description
  std::uint64_t load_ns = 0;          // how long loading took
  std::vector<std::string> warnings;  // what went wrong, one line each; whoever loads it shows them

  // Index of the smallest unit that contains all of `cpus`; 0 (the machine) if no smaller one does.
  // Cpus that this machine does not have are left out. -1 if none are left.
  int smallest_unit_containing(const CpuSet& cpus) const;

  // For every core that has a cpu in `among`, the first such cpu. So the number of its members
  // inside a unit is the number of that unit's cores.
  CpuSet one_cpu_per_core(const CpuSet& among) const;
};

// "core", "l2", "cluster", "l3", "die", "numa", "package", "machine".
const char* level_name(Level level);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/levels.h"
#include "topology/cpu_set.hpp"

namespace hierbar {

// A level of the machine that has a name. One set of cpus may have several labels (on Kunpeng 920
// an L3 is also a NUMA node).
#define HIERBAR_LEVEL(unit, level, ...) level,
enum class Level : std::uint8_t { HIERBAR_LEVELS(HIERBAR_LEVEL) };
#undef HIERBAR_LEVEL
inline constexpr int kNumLevels = HIERBAR_NUM_UNITS - 1;
constexpr std::uint32_t label_bit(Level level) { return 1U << static_cast<int>(level); }
// How reports and libomp name the level.
constexpr hierbar_unit unit_of(Level level) {
  return static_cast<hierbar_unit>(1 + static_cast<int>(level));
}

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

// "core", "l2", ..., "machine": see base/levels.h.
const char* level_name(Level level);

// The level of that name or other name, in upper or lower case.
std::optional<Level> parse_level(std::string_view name);

// Whether users may name the level where they choose levels: those between cores and the machine.
constexpr bool is_nameable(Level level) { return Level::kCore < level && level < Level::kMachine; }
// "l2, cluster, l3, die, numa, package": all of these.
std::string nameable_levels();

// The levels on which a hierarchical barrier can gather, lowest first: those with a preference
// (base/levels.h) of which two or more allowed cores share a unit. Of levels that divide the
// allowed cores in the same way only the preferred one is kept: the first of numa, package, l3,
// die, l2. (M. G. Kurnosov, Vestnik SibGUTI 16(2), 2022, section 2.1, has l2, l3, numa and
// package.)
std::vector<Level> active_levels(const Machine& machine);

// The bits (1 << Level) of `levels`, as in Unit::labels.
std::uint32_t label_bits(const std::vector<Level>& levels);

// What contradicts the description of Machine; empty if nothing does. For machines that another
// process has written: plans and placement rely on all of it. Linear in the size of the machine's
// sets.
std::string machine_problem(const Machine& machine);

// Cpus that share something, as the description of a machine lists them.
struct SharedSet {
  CpuSet cpus;
  std::uint32_t labels = 0;  // bit (1 << Level); 0: a group with unknown meaning
};

// What the description of a machine says about who shares what.
struct SharedSets {
  CpuSet present;                 // online cpus, never empty
  std::vector<SharedSet> nested;  // in any order; any two are disjoint or nested or equal
  // The cpus near the memory of each NUMA node. They may be empty, equal, nested in any way, or
  // overlap in part.
  std::vector<CpuSet> numa;
};

// Makes Machine::units:
//
//   1. Equal sets are one unit with several labels. Sets inside a core, or without a present cpu,
//      are left out.
//   2. A cpu that is in no core is a core of its own.
//   3. A NUMA set is a label of the unit with the same cpus, or becomes a unit. A set that overlaps
//      another unit in part is left out, with a warning.
//   4. The tree: parents come before children, children are ordered by first cpu.
//   5. A group of cores inside an L3 without a name is taken for a cluster, because synthetic
//      descriptions have no name for one.
//   6. Each label occurs at most once on the path from the machine to a core. Of nested units with
//      the same label, the inner ones keep it if together they are all of the outer one, else the
//      outer one keeps it. So as many cpus as possible have a unit of that label.
std::vector<Unit> build_unit_tree(const SharedSets& sets, std::vector<std::string>& warnings);

}  // namespace hierbar

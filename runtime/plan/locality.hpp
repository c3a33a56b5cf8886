// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Where a participant may run, as units of the machine. The first is the smallest unit that
// contains its whole binding; then come the units around it, up to the machine (unit 0). A
// participant that is unbound has only the machine.
struct LocalityPath {
  std::vector<int> units{0};
  bool bound = false;  // false: no cpus were given, or none of this machine

  int smallest() const { return units.front(); }
  // False: no unit smaller than the machine is known to hold the participant, so the topology says
  // nothing about it.
  bool resolved() const { return units.size() > 1; }
  // The unit at this depth of the tree (0: the machine), or -1 if the path ends above it.
  int unit_at_depth(int depth) const;
};

// Locates one binding. An empty set means unbound. O(depth of the machine's tree x cpus).
LocalityPath locate(const Machine& machine, const CpuSet& binding);
std::vector<LocalityPath> locate_all(const Machine& machine, const std::vector<CpuSet>& bindings);

// The smallest unit of the path that has the level, or -1.
int enclosing_unit(const Machine& machine, const LocalityPath& path, Level level);

// Whether two or more cores share the unit: the leaves of the tree are the cores, and no two units
// have the same cpus.
inline bool is_shared_by_cores(const Unit& unit) { return !unit.children.empty(); }

// The depth of the smallest unit that contains both units.
int shared_depth(const Machine& machine, int unit_a, int unit_b);

// The usual ways to place participants on a machine, each bound to one cpu. Only for descriptions
// of plans: real participants bring their own bindings.
//
//   core     participant i on core i, in topology order
//   numa     round robin over NUMA nodes, inside a node in topology order
//   package  round robin over packages, likewise
//   none     nobody is bound
//
// Only allowed cpus are used. If there are more participants than cores, the next round uses the
// next SMT sibling of each core.
enum class Mapping : std::uint8_t { kCore, kNuma, kPackage, kNone };
inline constexpr const char* kAllowedMappings = "core, numa, package, none";

// The error says what is wrong with the value.
Result<Mapping> parse_mapping(std::string_view name);

// The binding of each participant; empty sets mean unbound. Fails if the machine has no allowed
// cpu.
Result<std::vector<CpuSet>> map_participants(const Machine& machine, Mapping mapping,
                                             std::uint32_t num_participants);

// Participants by index. Functions that get them in topology order keep that order.
using Members = std::vector<std::uint32_t>;

// Participants between whose cores a line transfer is cheap, and the unit that they share.
struct Domain {
  int unit = 0;
  Members members;  // in topology order; participants of one unit by index
};

// The level whose units are the domains. It is `wanted`, if given; else L3, if several cores share
// one; else NUMA node; else package; else the machine. NUMA node and package only if the machine is
// larger than one of them.
Level domain_level(const Machine& machine, std::optional<Level> wanted);

// Puts every participant into one domain: the smallest unit around its binding that has the domain
// level and is shared by cores. If there is none (a wide binding, or a machine with several kinds
// of cores), it is the smallest unit that cores share, and at last the machine, which also takes
// the unbound ones. Domains are in topology order.
std::vector<Domain> partition_into_domains(const Machine& machine,
                                           const std::vector<LocalityPath>& paths, Level level);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "topology/machine.hpp"

namespace hierbar {

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
Result<std::vector<CpuSet>> map_participants(const Machine& machine, Mapping mapping, std::uint32_t num_participants);

}  // namespace hierbar

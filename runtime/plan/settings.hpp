// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// What people set about plans:
//
//   HIERBAR_LEVELS    auto, or a comma list of cluster, l2, l3, die, numa, package (socket): the levels of the paper's
//                     groups; each unit of the lowest one is also a domain of the engine's plan, with a leader of its own.
//                     Order and repetitions do not matter.
//   HIERBAR_RELEASE   auto, flags or lines: how a parent releases its children; auto is flags
//
// Upper and lower case are the same, an empty value means auto.
inline constexpr const char* kLevelsVariable = "HIERBAR_LEVELS";
inline constexpr const char* kReleaseVariable = "HIERBAR_RELEASE";
inline constexpr const char* kTopologyVariable = "HIERBAR_TOPOLOGY";

inline constexpr const char* kAllowedLevelLists = "auto, or a comma list of cluster, l2, l3, die, numa, package";
inline constexpr const char* kAllowedReleases = "auto, flags, lines";

struct PlanSettings {
  std::string levels_text;    // as the user wrote it, for messages
  std::vector<Level> levels;  // each once; empty: automatic
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  bool release_is_chosen = false;  // false: automatic, so that a profile may choose
};

// Whether the value leaves the choice to hierbar.
bool is_automatic(std::string_view text);

// Parse one value. The error says what is wrong with the value; the caller knows whose value it is, see bad_setting().
Result<std::vector<Level>> parse_levels(std::string_view text);
Result<hierbar_release_kind> parse_release(std::string_view text);

// The form of every complaint: "NAME: 'value': problem; allowed: ...; ... used instead".
std::string bad_setting(std::string_view name, std::string_view value, std::string_view problem, std::string_view allowed,
                        std::string_view used_instead);

// Reads this process's variables. A bad value is told in `problems` and replaced by the default.
PlanSettings read_plan_settings(std::vector<std::string>& problems);

// The wanted levels as levels of this machine: lowest first, and of levels whose units are the same only the highest. The error
// names a level of which this machine has no unit that two or more cores share.
Result<std::vector<Level>> levels_on_machine(const Machine& machine, const std::vector<Level>& wanted);

// What HIERBAR_LEVELS can be on this machine: "auto, or a comma list of l3, numa, package".
std::string allowed_levels_on_machine(const Machine& machine);

// What levels mean for the plans made on one machine.
struct PlanLevels {
  std::vector<Level> groups;    // of the paper's groups, lowest first
  std::optional<Level> domain;  // of the engine's plan; empty: the machine decides
};

// The levels that the settings want or, if this machine does not have them, which is told in `problems`, its active levels.
PlanLevels plan_levels(const Machine& machine, const PlanSettings& settings, std::vector<std::string>& problems);

// The complaint about a HIERBAR_TOPOLOGY that names a file which cannot be read; empty otherwise. Looks at the file's permissions
// and not into it, so it costs nothing.
std::string unreadable_topology();

}  // namespace hierbar

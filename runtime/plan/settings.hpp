// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "plan/plan.h"
#include "topology/machine.hpp"

namespace hierbar {

// What users can set about plans:
//
//   HIERBAR_LEVELS    auto, or a comma list of levels (is_nameable()): the levels of the paper's
//                     groups. Each unit of the lowest one is also a domain of
//                     the engine's plan, with its own leader. Order and repetitions do not matter.
//   HIERBAR_RELEASE   auto, flags or lines: how a parent releases its children; auto is flags
//
// Upper and lower case are the same. An empty value means auto.
inline constexpr const char* kLevelsVariable = "HIERBAR_LEVELS";
inline constexpr const char* kReleaseVariable = "HIERBAR_RELEASE";
inline constexpr const char* kTopologyVariable = "HIERBAR_TOPOLOGY";

inline constexpr const char* kAllowedReleases = "auto, flags, lines";

struct PlanSettings {
  std::string levels_text;    // as the user wrote it, for messages
  std::vector<Level> levels;  // each once; empty: automatic
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  bool release_is_chosen = false;  // false: automatic, so that a profile may choose
};

// The allowed values of HIERBAR_LEVELS: "auto, or a comma list of l2, ...".
std::string allowed_level_lists();

// Whether the value leaves the choice to hierbar.
bool is_automatic(std::string_view text);

// Each parses one value. The error says what is wrong with it. The caller knows whose value it is
// and puts both together by bad_setting().
Result<std::vector<Level>> parse_levels(std::string_view text);
Result<hierbar_release_kind> parse_release(std::string_view text);

// The complaint about a setting: "NAME: 'value': problem; allowed: ...; ... used instead".
std::string bad_setting(std::string_view name, std::string_view value, std::string_view problem,
                        std::string_view allowed, std::string_view used_instead);

// Reads the variables above. A bad value is reported in `problems`, and the default is used.
PlanSettings read_plan_settings(const Environment& environment, std::vector<std::string>& problems);

// The wanted levels as levels of this machine, lowest first. Of several levels with the same units
// only the highest is kept. The error names a level of which no two cores of this machine share a
// unit.
Result<std::vector<Level>> levels_on_machine(const Machine& machine,
                                             const std::vector<Level>& wanted);

// The allowed values of HIERBAR_LEVELS on this machine, as "auto, or a comma list of l3, numa".
std::string allowed_levels_on_machine(const Machine& machine);

// What the levels mean for plans on one machine.
struct PlanLevels {
  std::vector<Level> groups;    // of the paper's groups, lowest first
  std::optional<Level> domain;  // of the engine's plan; empty: the machine decides
};

// The levels of the settings. If this machine does not have them, that is reported in `problems`,
// and its active levels are returned.
PlanLevels plan_levels(const Machine& machine, const PlanSettings& settings,
                       std::vector<std::string>& problems);

}  // namespace hierbar

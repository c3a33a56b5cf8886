// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/settings.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "plan/locality.hpp"
#include "topology/machine.hpp"

namespace hierbar {
namespace {

std::optional<Level> nameable_level(std::string_view name) {
  const std::optional<Level> level = parse_level(name);
  return level && is_nameable(*level) ? level : std::nullopt;
}

// The units of this level that several cores share.
std::vector<int> shared_units(const Machine& machine, Level level) {
  std::vector<int> units;
  for (std::size_t i = 0; i < machine.units.size(); ++i) {
    if (machine.units[i].has(level) && is_shared_by_cores(machine.units[i]))
      units.push_back(static_cast<int>(i));
  }
  return units;
}

// Levels nest differently on different machines: a NUMA node may be above an L3 or below it. So
// their order is taken from the sizes of their units.
std::size_t num_cpus_of_widest_unit(const Machine& machine, Level level) {
  std::size_t widest = 0;
  for (const int unit : shared_units(machine, level)) {
    widest = std::max<std::size_t>(widest, machine.units[unit].cpus.count());
  }
  return widest;
}

}  // namespace

std::string allowed_level_lists() { return "auto, or a comma list of " + nameable_levels(); }

bool is_automatic(std::string_view text) {
  const std::string value = lower_word(text);
  return value.empty() || value == "auto";
}

Result<std::vector<Level>> parse_levels(std::string_view text) {
  std::vector<Level> levels;
  if (is_automatic(text)) return levels;
  for (const std::string& name : lower_words(text, ',')) {
    const std::optional<Level> level = nameable_level(name);
    if (!level) return Error{"unknown level '" + name + "'"};
    if (std::find(levels.begin(), levels.end(), *level) == levels.end()) levels.push_back(*level);
  }
  return levels;
}

Result<hierbar_release_kind> parse_release(std::string_view text) {
  const std::string value = lower_word(text);
  if (is_automatic(value) || value == "flags") return HIERBAR_RELEASE_FLAGS;
  if (value == "lines") return HIERBAR_RELEASE_LINES;
  return Error{"unknown kind of release"};
}

std::string bad_setting(std::string_view name, std::string_view value, std::string_view problem,
                        std::string_view allowed, std::string_view used_instead) {
  std::string text;
  text.append(name).append(": '").append(value).append("': ").append(problem);
  text.append("; allowed: ").append(allowed);
  text.append("; ").append(used_instead).append(" used instead");
  return text;
}

PlanSettings read_plan_settings(const Environment& environment,
                                std::vector<std::string>& problems) {
  PlanSettings settings;
  settings.levels_text = value_of(environment, kLevelsVariable);
  if (auto levels = parse_levels(settings.levels_text)) {
    settings.levels = *levels;
  } else {
    problems.push_back(bad_setting(kLevelsVariable, settings.levels_text, levels.error(),
                                   allowed_level_lists(), "the machine's own levels are"));
  }
  const std::string release_text = value_of(environment, kReleaseVariable);
  settings.release_is_chosen = !is_automatic(release_text);
  if (auto release = parse_release(release_text)) {
    settings.release = *release;
  } else {
    problems.push_back(bad_setting(kReleaseVariable, release_text, release.error(),
                                   kAllowedReleases, "'flags' is"));
  }
  return settings;
}

Result<std::vector<Level>> levels_on_machine(const Machine& machine,
                                             const std::vector<Level>& wanted) {
  std::vector<Level> levels = wanted;
  for (const Level level : levels) {
    if (shared_units(machine, level).empty()) {
      return Error{std::string("no two cores of this machine share a unit of level ") +
                   level_name(level)};
    }
  }
  std::sort(levels.begin(), levels.end(), [&machine](Level a, Level b) {
    return std::pair(num_cpus_of_widest_unit(machine, a), a) <
           std::pair(num_cpus_of_widest_unit(machine, b), b);
  });
  std::vector<Level> distinct;
  for (auto level = levels.begin(); level != levels.end(); ++level) {
    const bool repeated_above = std::any_of(level + 1, levels.end(), [&](Level above) {
      return shared_units(machine, above) == shared_units(machine, *level);
    });
    if (!repeated_above) distinct.push_back(*level);
  }
  return distinct;
}

std::string allowed_levels_on_machine(const Machine& machine) {
  std::string text;
  for (int i = 0; i < kNumLevels; ++i) {
    const auto level = static_cast<Level>(i);
    if (!is_nameable(level) || shared_units(machine, level).empty()) continue;
    text.append(text.empty() ? "auto, or a comma list of " : ", ").append(level_name(level));
  }
  return text.empty() ? "auto" : text;
}

PlanLevels plan_levels(const Machine& machine, const PlanSettings& settings,
                       std::vector<std::string>& problems) {
  if (!settings.levels.empty()) {
    const Result<std::vector<Level>> levels = levels_on_machine(machine, settings.levels);
    if (levels) return PlanLevels{*levels, levels->front()};
    problems.push_back(bad_setting(kLevelsVariable, settings.levels_text, levels.error(),
                                   allowed_levels_on_machine(machine),
                                   "the machine's own levels are"));
  }
  return PlanLevels{active_levels(machine), std::nullopt};
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/profile.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "plan/locality.hpp"

namespace hierbar {
namespace {

std::string ignored(const std::string& path, const std::string& reason) {
  return "profile '" + path + "' ignored: " + reason +
         "; run 'hierbar tune' to make it again, or set " + kProfileVariable + "=off";
}

Result<Profile> parse_file(const SmallFile& file, const std::string& path) {
  if (!file.problem.empty()) return Error{file.problem};
  Result<Profile> profile = parse_profile(file.text);
  if (profile) profile->path = path;
  return profile;
}

}  // namespace

MachineIdentity identity_of(const Machine& machine) {
  MachineIdentity identity{machine.name, ""};
  // From the largest one below the machine down.
  for (int i = kNumLevels - 2; i >= 0; --i) {
    const Level level = static_cast<Level>(i);
    const auto count = std::count_if(machine.units.begin(), machine.units.end(),
                                     [level](const Unit& unit) { return unit.has(level); });
    if (count > 0)
      identity.shape.append(level_name(level)).append(" " + std::to_string(count) + ", ");
  }
  identity.shape += "cpu " + std::to_string(machine.present.count());
  return identity;
}

TeamSpread spread_of(const Machine& machine, const std::vector<LocalityPath>& paths) {
  std::set<int> cores;
  for (const LocalityPath& path : paths) {
    if (!path.bound || is_shared_by_cores(machine.units[path.smallest()])) {
      return TeamSpread{static_cast<std::uint32_t>(paths.size()), 0, 0};
    }
    cores.insert(path.smallest());
  }
  const std::vector<Domain> domains =
      partition_into_domains(machine, paths, domain_level(machine, std::nullopt));
  return TeamSpread{static_cast<std::uint32_t>(paths.size()),
                    static_cast<std::uint32_t>(cores.size()),
                    static_cast<std::uint32_t>(domains.size())};
}

std::string default_profile_path(const Environment& environment) {
  return config_file(environment, "profile.json");
}

Result<Profile> load_profile(const std::string& path) {
  return parse_file(read_small_file(path, kMaxProfileBytes), path);
}

std::optional<Profile> read_profile(const Environment& environment, bool other_machine,
                                    std::vector<std::string>& problems) {
  std::string path = value_of(environment, kProfileVariable);
  const bool named = !path.empty();
  if (lower_word(path) == "off" || (!named && other_machine)) return std::nullopt;
  if (!named) path = default_profile_path(environment);
  if (path.empty()) return std::nullopt;
  const SmallFile file = read_small_file(path, kMaxProfileBytes);
  if (file.is_missing && !named) return std::nullopt;
  Result<Profile> profile = parse_file(file, path);
  if (profile) return *std::move(profile);
  problems.push_back(ignored(path, profile.error()));
  return std::nullopt;
}

std::string foreign_profile(const Profile& profile, const Machine& machine) {
  const MachineIdentity here = identity_of(machine);
  if (profile.machine == here) return {};
  const auto text = [](const MachineIdentity& identity) {
    return "'" + identity.cpu + "' (" + identity.shape + ")";
  };
  return ignored(profile.path, "it was made on another machine, " + text(profile.machine) +
                                   ", and this is " + text(here));
}

std::string describe_profile(const Profile& profile) {
  std::string teams;
  for (const TunedPlan& plan : profile.plans) {
    if (plan.is_default()) continue;
    teams += (teams.empty() ? "" : ", ") + std::to_string(plan.team.num_participants);
  }
  return "profile " + profile.path + ": " +
         (teams.empty() ? "the automatic shapes are best"
                        : "measured shapes for teams of " + teams);
}

void apply_profile(const Profile& profile, const Machine& machine,
                   const std::vector<LocalityPath>& paths, const PlanSettings& settings,
                   ShapeOptions& options) {
  if (!settings.levels.empty()) return;  // the levels ask for another shape
  const TeamSpread team = spread_of(machine, paths);
  const auto plan = std::find_if(profile.plans.begin(), profile.plans.end(),
                                 [&](const TunedPlan& tuned) { return tuned.team == team; });
  if (plan == profile.plans.end() || plan->is_default()) return;
  options.num_leaders = plan->num_leaders;
  if (!settings.release_is_chosen) options.release = plan->release;
  options.is_tuned = true;
}

}  // namespace hierbar

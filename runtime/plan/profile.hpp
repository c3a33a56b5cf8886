// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "plan/locality.hpp"
#include "plan/plan.h"
#include "plan/settings.hpp"
#include "plan/shape.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// What `hierbar tune` has measured on one machine. A profile speaks of the machine, the version of
// hierbar and the teams with which it was measured, and of nothing else: all others have the
// automatic shape (docs/design/model.md#d0065).
//
//   HIERBAR_PROFILE   off, or the path of a profile. If it is not set: profile.json in
//                     $XDG_CONFIG_HOME/hierbar or ~/.config/hierbar, if it exists and
//                     HIERBAR_TOPOLOGY does not ask for another machine
//
// HIERBAR_LEVELS and HIERBAR_RELEASE take precedence over it.
inline constexpr const char* kProfileVariable = "HIERBAR_PROFILE";
inline constexpr const char* kProfileFormat = "hierbar-profile-1";

// A larger file is refused without being parsed. A profile of a large machine has some 20 KiB.
inline constexpr std::size_t kMaxProfileBytes = 256 << 10;

// What a profile must have in common with a machine to be used on it.
struct MachineIdentity {
  std::string cpu;  // the model, as Machine::name
  // How many units of each level there are: "package 2, numa 4, l3 4, cluster 32, core 128, cpu
  // 128".
  std::string shape;
  friend bool operator==(const MachineIdentity&, const MachineIdentity&) = default;
};
MachineIdentity identity_of(const Machine& machine);

// A team: what the best shape of its barrier depends on.
struct TeamSpread {
  std::uint32_t num_participants = 0;
  std::uint32_t num_cores = 0;    // to which they are bound; 0: one is not bound to one core
  std::uint32_t num_domains = 0;  // that contain these cores; 0 if num_cores is 0
  friend bool operator==(const TeamSpread&, const TeamSpread&) = default;
};
TeamSpread spread_of(const Machine& machine, const std::vector<LocalityPath>& paths);

// The shape that was best for a team.
struct TunedPlan {
  TeamSpread team;
  std::uint32_t num_leaders = 0;  // 0: the automatic shape
  hierbar_release_kind release = HIERBAR_RELEASE_FLAGS;
  bool is_default() const { return num_leaders == 0 && release == HIERBAR_RELEASE_FLAGS; }
};

struct Profile {
  std::string path;
  MachineIdentity machine;
  std::vector<TunedPlan> plans;
};

// Errors: the text is no profile of this version of hierbar, or what is wrong in it.
Result<Profile> parse_profile(const std::string& text);

// Reads a file. Errors: it cannot be read, is not a regular file or is too large; those of
// parse_profile().
Result<Profile> load_profile(const std::string& path);

// Where `hierbar tune` writes, and where plans find the profile if HIERBAR_PROFILE names nothing
// else; empty if there is no home directory.
std::string default_profile_path(const Environment& environment);

// The profile that the environment asks for. If it cannot be used, that is reported in `problems`.
// If there is none, the cost is an open() that fails. `other_machine`: plans are for a machine that
// HIERBAR_TOPOLOGY or --topology describes, so a profile is used only if HIERBAR_PROFILE names it.
std::optional<Profile> read_profile(const Environment& environment, bool other_machine,
                                    std::vector<std::string>& problems);

// One line for people: "profile /home/a/.config/hierbar/profile.json: measured shapes for teams of
// 64, 128".
std::string describe_profile(const Profile& profile);

// The complaint about a profile that was measured on another machine; empty if it fits this one.
std::string foreign_profile(const Profile& profile, const Machine& machine);

// Sets in `options` what the profile has for the team, unless the settings have chosen it.
void apply_profile(const Profile& profile, const Machine& machine,
                   const std::vector<LocalityPath>& paths, const PlanSettings& settings,
                   ShapeOptions& options);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/locality.hpp"
#include "plan/plan.h"
#include "plan/settings.hpp"
#include "plan/shape.hpp"
#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// What `hierbar tune` has measured on one machine and plans use. A profile speaks of the machine, the version of hierbar and the
// teams that it was measured with, and of nothing else: for all others plans have their automatic shape.
//
//   HIERBAR_PROFILE   off, or the path of a profile. Not set: profile.json in $XDG_CONFIG_HOME/hierbar or ~/.config/hierbar, if
//                     it is there and HIERBAR_TOPOLOGY does not ask for another machine
//
// HIERBAR_LEVELS and HIERBAR_RELEASE win over it.
inline constexpr const char* kProfileVariable = "HIERBAR_PROFILE";
inline constexpr const char* kProfileFormat = "hierbar-profile-1";

// Larger files are refused unread. A profile of a large machine has some 20 KiB.
inline constexpr std::size_t kMaxProfileBytes = 256 << 10;

// What a profile must have in common with the machine to be of use on it.
struct MachineIdentity {
  std::string cpu;    // the model, as Machine::name
  std::string shape;  // "package 2, numa 4, l3 4, cluster 32, core 128, cpu 128": how many units of each level there are
  friend bool operator==(const MachineIdentity&, const MachineIdentity&) = default;
};
MachineIdentity identity_of(const Machine& machine);

// A team, as far as the best shape of its barrier depends on it.
struct TeamSpread {
  std::uint32_t num_participants = 0;
  std::uint32_t num_cores = 0;    // that they are bound to; 0: somebody is not bound to a single core
  std::uint32_t num_domains = 0;  // that these cores are in
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

// Errors: not a profile of this version of hierbar, or what is wrong in it.
Result<Profile> parse_profile(const std::string& text);

// Reads one. Errors: it cannot be read, is no regular file or too large; those of parse_profile().
Result<Profile> load_profile(const std::string& path);

// Where `hierbar tune` writes and plans look when HIERBAR_PROFILE names nothing else; empty when there is no home directory.
std::string default_profile_path();

// The profile that the environment asks for. One that cannot be used is told in `problems`. What it costs where there is none is
// an open() that fails. `other_machine`: plans are for a machine that HIERBAR_TOPOLOGY or --topology describes, so a profile
// counts only if HIERBAR_PROFILE names it.
std::optional<Profile> read_profile(bool other_machine, std::vector<std::string>& problems);

// One line for people: "profile /home/a/.config/hierbar/profile.json: measured shapes for teams of 64, 128".
std::string describe_profile(const Profile& profile);

// The complaint about a profile that was measured elsewhere; empty if it is of this machine.
std::string foreign_profile(const Profile& profile, const Machine& machine);

// Puts what the profile says about the team into `options`, as far as the settings leave it open.
void apply_profile(const Profile& profile, const Machine& machine, const std::vector<LocalityPath>& paths,
                   const PlanSettings& settings, ShapeOptions& options);

}  // namespace hierbar

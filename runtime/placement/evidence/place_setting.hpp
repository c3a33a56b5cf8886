// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace hierbar {

// HIERBAR_PLACE, by which users set placement: what to do, which cpus to share out, how large teams
// without a number are, or several of these, separated by commas.
//
//   off              ranks and threads stay where they are
//   check            report what would be done, and do nothing
//   auto             act where it helps and nothing speaks against it
//   pool=auto        the cpus that the job may use, as choose_pool() finds them
//   pool=union       the cpus that the ranks of the node were given, all together
//   pool=grant       the cpus of the launcher's own process
//   pool=cpuset      all cpus that the kernel allows
//   threads=keep     a team without a given size has a thread for each cpu that the rank was given
//   threads=share    such a team has a thread for each cpu of the share
//   quota=auto       such a team has no more threads than a cpu quota leaves cpus
//   quota=off        quotas do not count
//
// Upper and lower case mean the same. An empty value, or a part that is missing, means auto,
// keep and auto.
inline constexpr const char* kPlaceVariable = "HIERBAR_PLACE";
inline constexpr const char* kAllowedPlaceSettings =
    "off, check or auto, pool=auto, pool=union, pool=grant or pool=cpuset, threads=keep or "
    "threads=share, quota=auto or "
    "quota=off, or one of each, separated by commas";

enum class PlaceMode : std::uint8_t { kOff, kCheck, kAuto };
enum class PoolChoice : std::uint8_t { kAuto, kUnion, kGrant, kCpuset };
// For teams without a given size.
enum class TeamSize : std::uint8_t { kKeep, kShare };
enum class QuotaUse : std::uint8_t { kAuto, kOff };

struct PlaceSetting {
  PlaceMode mode = PlaceMode::kAuto;
  PoolChoice pool = PoolChoice::kAuto;
  TeamSize threads = TeamSize::kKeep;
  QuotaUse quota = QuotaUse::kAuto;

  friend bool operator==(const PlaceSetting&, const PlaceSetting&) = default;
};

const char* pool_choice_name(PoolChoice choice);  // "auto", "union", "grant", "cpuset"

// The error tells what is wrong with the value. The caller knows where the value comes from.
Result<PlaceSetting> parse_place_setting(std::string_view text);

}  // namespace hierbar

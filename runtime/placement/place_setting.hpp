// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

#include "topology/result.hpp"

namespace hierbar {

// HIERBAR_PLACE, what people set about placement: what to do, which cpus to share out, how large teams
// without a number are, or several of these, separated by commas.
//
//   off              ranks and threads stay where they are
//   check            say what would be done, and do nothing
//   auto             act where it helps and nothing speaks against it
//   pool=auto        which cpus the job may use, found out as choose_pool() says
//   pool=union       those that the ranks of the node were given, all together
//   pool=grant       those of the launcher's own process
//   pool=cpuset      all that the kernel allows
//   threads=keep     a team of which nobody said how large it is has a thread for each cpu that the rank was given
//   threads=share    a thread for each cpu of the share
//
// Upper and lower case are the same. An empty value, or a part that is not named, means auto, and keep.
inline constexpr const char* kPlaceVariable = "HIERBAR_PLACE";
inline constexpr const char* kAllowedPlaceSettings =
    "off, check or auto, pool=auto, pool=union, pool=grant or pool=cpuset, threads=keep or threads=share, or one of each, "
    "separated by commas";

enum class PlaceMode : std::uint8_t { kOff, kCheck, kAuto };
enum class PoolChoice : std::uint8_t { kAuto, kUnion, kGrant, kCpuset };
enum class TeamSize : std::uint8_t { kKeep, kShare };  // of teams without a number

struct PlaceSetting {
  PlaceMode mode = PlaceMode::kAuto;
  PoolChoice pool = PoolChoice::kAuto;
  TeamSize threads = TeamSize::kKeep;

  friend bool operator==(const PlaceSetting&, const PlaceSetting&) = default;
};

const char* pool_choice_name(PoolChoice choice);  // "auto", "union", "grant", "cpuset"

// The error says what is wrong with the value; the caller knows whose value it is.
Result<PlaceSetting> parse_place_setting(std::string_view text);

}  // namespace hierbar

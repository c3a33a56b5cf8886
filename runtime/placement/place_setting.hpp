// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

#include "topology/result.hpp"

namespace hierbar {

// HIERBAR_PLACE, what people set about placement: what to do, which cpus to share out, or both, separated by a comma.
//
//   off              ranks and threads stay where they are
//   check            say what would be done, and do nothing
//   auto             act where it helps and nothing speaks against it
//   pool=auto        which cpus the job may use, found out as choose_pool() says
//   pool=union       those that the ranks of the node were given, all together
//   pool=grant       those of the launcher's own process
//   pool=cpuset      all that the kernel allows
//
// Upper and lower case are the same. An empty value, or a part that is not named, means auto.
inline constexpr const char* kPlaceVariable = "HIERBAR_PLACE";
inline constexpr const char* kAllowedPlaceSettings =
    "off, check or auto, pool=auto, pool=union, pool=grant or pool=cpuset, or one of each, separated by a comma";

enum class PlaceMode : std::uint8_t { kOff, kCheck, kAuto };
enum class PoolChoice : std::uint8_t { kAuto, kUnion, kGrant, kCpuset };

struct PlaceSetting {
  PlaceMode mode = PlaceMode::kAuto;
  PoolChoice pool = PoolChoice::kAuto;

  friend bool operator==(const PlaceSetting&, const PlaceSetting&) = default;
};

const char* pool_choice_name(PoolChoice choice);  // "auto", "union", "grant", "cpuset"

// The error says what is wrong with the value; the caller knows whose value it is.
Result<PlaceSetting> parse_place_setting(std::string_view text);

}  // namespace hierbar

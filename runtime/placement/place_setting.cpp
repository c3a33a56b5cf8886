// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/place_setting.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "topology/words.hpp"

namespace hierbar {
namespace {

constexpr std::pair<const char*, PlaceMode> kModes[] = {
    {"off", PlaceMode::kOff}, {"check", PlaceMode::kCheck}, {"auto", PlaceMode::kAuto}};
constexpr std::pair<const char*, PoolChoice> kPools[] = {
    {"auto", PoolChoice::kAuto}, {"union", PoolChoice::kUnion}, {"grant", PoolChoice::kGrant}, {"cpuset", PoolChoice::kCpuset}};
constexpr std::string_view kPoolPrefix = "pool=";

template <class Value, std::size_t kNumNames>
std::optional<Value> named(const std::pair<const char*, Value> (&names)[kNumNames], std::string_view name) {
  const auto* found = std::find_if(std::begin(names), std::end(names), [&](const auto& entry) { return name == entry.first; });
  return found == std::end(names) ? std::nullopt : std::optional<Value>(found->second);
}

}  // namespace

const char* pool_choice_name(PoolChoice choice) {
  const auto* found =
      std::find_if(std::begin(kPools), std::end(kPools), [&](const auto& entry) { return entry.second == choice; });
  return found->first;
}

Result<PlaceSetting> parse_place_setting(std::string_view text) {
  PlaceSetting setting;
  if (lower_words(text, ',') == std::vector<std::string>{""}) return setting;
  bool has_mode = false;
  bool has_pool = false;
  for (const std::string& word : lower_words(text, ',')) {
    const bool is_pool = word.starts_with(kPoolPrefix);
    bool& is_set = is_pool ? has_pool : has_mode;
    if (is_pool) {
      const std::optional<PoolChoice> pool = named(kPools, word.substr(kPoolPrefix.size()));
      if (!pool) return Error{"unknown pool '" + word.substr(kPoolPrefix.size()) + "'"};
      setting.pool = *pool;
    } else {
      const std::optional<PlaceMode> mode = named(kModes, word);
      if (!mode) return Error{"unknown word '" + word + "'"};
      setting.mode = *mode;
    }
    if (is_set) return Error{is_pool ? "two pools" : "two modes"};
    is_set = true;
  }
  return setting;
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/place_setting.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"

namespace hierbar {
namespace {

constexpr std::pair<const char*, PlaceMode> kModes[] = {
    {"off", PlaceMode::kOff}, {"check", PlaceMode::kCheck}, {"auto", PlaceMode::kAuto}};
constexpr std::pair<const char*, PoolChoice> kPools[] = {{"auto", PoolChoice::kAuto},
                                                         {"union", PoolChoice::kUnion},
                                                         {"grant", PoolChoice::kGrant},
                                                         {"cpuset", PoolChoice::kCpuset}};
constexpr std::pair<const char*, TeamSize> kTeamSizes[] = {{"keep", TeamSize::kKeep},
                                                           {"share", TeamSize::kShare}};
constexpr std::pair<const char*, QuotaUse> kQuotaUses[] = {{"auto", QuotaUse::kAuto},
                                                           {"off", QuotaUse::kOff}};

// One of the parts: its prefix, the words of its error messages, and whether it was given.
struct Part {
  std::string_view prefix;
  const char* unknown;
  const char* twice;
  bool is_set = false;
};

template <class Value, std::size_t kNumNames>
std::optional<Error> read_part(const std::pair<const char*, Value> (&names)[kNumNames],
                               std::string_view word, Part& part, Value& value) {
  const std::string name(word.substr(part.prefix.size()));
  const auto* found = std::find_if(std::begin(names), std::end(names),
                                   [&](const auto& entry) { return name == entry.first; });
  if (found == std::end(names))
    return Error{std::string("unknown ") + part.unknown + " '" + name + "'"};
  if (part.is_set) return Error{part.twice};
  part.is_set = true;
  value = found->second;
  return std::nullopt;
}

}  // namespace

const char* pool_choice_name(PoolChoice choice) {
  const auto* found = std::find_if(std::begin(kPools), std::end(kPools),
                                   [&](const auto& entry) { return entry.second == choice; });
  return found->first;
}

Result<PlaceSetting> parse_place_setting(std::string_view text) {
  PlaceSetting setting;
  if (lower_words(text, ',') == std::vector<std::string>{""}) return setting;
  Part mode{"", "word", "two modes"};
  Part pool{"pool=", "pool", "two pools"};
  Part threads{"threads=", "number of threads", "two numbers of threads"};
  Part quota{"quota=", "use of quotas", "two uses of quotas"};
  for (const std::string& word : lower_words(text, ',')) {
    const std::optional<Error> error =
        word.starts_with(pool.prefix)      ? read_part(kPools, word, pool, setting.pool)
        : word.starts_with(threads.prefix) ? read_part(kTeamSizes, word, threads, setting.threads)
        : word.starts_with(quota.prefix)   ? read_part(kQuotaUses, word, quota, setting.quota)
                                           : read_part(kModes, word, mode, setting.mode);
    if (error) return *error;
  }
  return setting;
}

}  // namespace hierbar

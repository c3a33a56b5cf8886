// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "plan/profile.hpp"

#ifdef HIERBAR_WITHOUT_JSON

namespace hierbar {

Result<Profile> parse_profile(const std::string&) {
  return Error{"this libhierbar.so was built without nlohmann_json"};
}

}  // namespace hierbar

#else

#include <nlohmann/json.hpp>

#include "../include/hierbar/hierbar.h"

namespace hierbar {
namespace {

using nlohmann::json;

constexpr std::size_t kMostPlans = 1024;
constexpr std::size_t kMostName = 1024;

// A number from 1 to `most`; 0 if the member is anything else.
std::uint32_t count_in(const json& object, const char* name, std::uint32_t most) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_number_unsigned()) return 0;
  const auto number = member->get<std::uint64_t>();
  return number <= most ? static_cast<std::uint32_t>(number) : 0;
}

std::string text_in(const json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

// The beginning of a text, as much as a message needs.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 64;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

Result<TunedPlan> read_plan(const json& entry) {
  if (!entry.is_object()) return Error{"is not an object"};
  TunedPlan tuned;
  tuned.team.num_participants = count_in(entry, "participants", kMaxParticipants);
  tuned.team.num_cores = count_in(entry, "cores", kMaxParticipants);
  tuned.team.num_domains = count_in(entry, "domains", kMaxParticipants);
  if (tuned.team.num_participants == 0 || tuned.team.num_cores == 0 ||
      tuned.team.num_domains == 0) {
    return Error{"needs participants, cores and domains, each 1 to " +
                 std::to_string(kMaxParticipants)};
  }
  const auto shape = entry.find("shape");
  if (shape != entry.end() && shape->is_string() && *shape == "default") return tuned;
  const std::string allowed =
      "needs shape: \"default\", or leaders (\"auto\", 1 to the participants) and release (flags, "
      "lines)";
  if (shape == entry.end() || !shape->is_object()) return Error{allowed};
  tuned.num_leaders = count_in(*shape, "leaders", tuned.team.num_participants);
  const bool automatic = text_in(*shape, "leaders") == "auto";
  const std::string release_text = text_in(*shape, "release");
  const Result<hierbar_release_kind> release = parse_release(release_text);
  if ((tuned.num_leaders == 0 && !automatic) || !release || release_text.empty())
    return Error{allowed};
  tuned.release = *release;
  return tuned;
}

}  // namespace

Result<Profile> parse_profile(const std::string& text) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object()) return Error{"it is not JSON, or cut off"};
  if (const std::string format = text_in(root, "format"); format != kProfileFormat) {
    return Error{"its format is '" + shortened(format) + "' and not '" + kProfileFormat + "'"};
  }
  if (const std::string version = text_in(root, "hierbar"); version != HIERBAR_VERSION_STRING) {
    return Error{"it was made by hierbar '" + shortened(version) +
                 "', and this is " HIERBAR_VERSION_STRING};
  }
  const json machine = root.value("machine", json());
  Profile profile{"", {text_in(machine, "cpu"), text_in(machine, "shape")}, {}};
  if (profile.machine.cpu.size() > kMostName || profile.machine.shape.size() > kMostName) {
    return Error{"the names of its machine ('machine': 'cpu', 'shape') are longer than " +
                 std::to_string(kMostName)};
  }
  if (profile.machine.shape.empty())
    return Error{"it does not name its machine ('machine': 'cpu', 'shape')"};
  const json plans = root.value("plans", json());
  if (!plans.is_array() || plans.size() > kMostPlans) {
    return Error{"its 'plans' are not an array of at most " + std::to_string(kMostPlans)};
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Result<TunedPlan> plan = read_plan(plans[i]);
    if (!plan) return Error{"'plans'[" + std::to_string(i) + "] " + plan.error()};
    profile.plans.push_back(*plan);
  }
  return profile;
}

}  // namespace hierbar

#endif

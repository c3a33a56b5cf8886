// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The profile that `hierbar tune` writes and every process reads.

#include <nlohmann/json.hpp>

#include "fuzz_target.hpp"
#include "plan/locality.hpp"
#include "plan/profile.hpp"
#include "plan/soundness.hpp"
#include "tests/support/machines.hpp"
#include "tune/tune_report.hpp"

namespace hierbar::test {
namespace {

// The plans of a machine on which the profile is believed, whatever it says.
void apply(const Profile& profile) {
  static const Machine machine = make_kunpeng();
  for (const TunedPlan& tuned : profile.plans) {
    // Larger teams cost time and reach no other code.
    if (tuned.team.num_participants > 512) continue;
    const auto bindings = map_participants(machine, Mapping::kCore, tuned.team.num_participants);
    const std::vector<LocalityPath> paths = locate_all(machine, *bindings);
    ShapeOptions options;
    apply_profile(profile, machine, paths, PlanSettings{}, options);
    const Result<EnginePlan> plan = build_engine_plan(paths, machine, options);
    require(plan.ok(), "a profile does not keep a team from having a plan");
    require(is_sound(plan->view()), "a plan is sound, whatever a profile says");
    if (options.is_tuned) return;  // one plan that a profile has shaped says enough
  }
}

}  // namespace
}  // namespace hierbar::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hierbar;
  const std::string text = test::text_of(data, size);
  if (const Result<Profile> profile = parse_profile(text)) {
    for (const TunedPlan& tuned : profile->plans) {
      test::require(tuned.num_leaders <= tuned.team.num_participants,
                    "a team has its leaders among itself");
    }
    (void)describe_profile(*profile);
    (void)foreign_profile(*profile, test::make_kunpeng());
    test::apply(*profile);
  } else {
    test::require(!profile.error().empty(), "a refusal has a reason");
    test::require(profile.error().size() < 1024, "a reason is for people");
  }
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) (void)nearest_pair(json);
  return 0;
}

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/trial/scenario.hpp"

#include <string>
#include <utility>

#include "plan/group_plan.hpp"

namespace hierbar::bench::model {

Result<Scenario> Scenario::make(const Machine& machine, Mapping mapping, std::uint32_t num_participants) {
  if (num_participants > machine.allowed.count()) {
    return Error{std::to_string(num_participants) + " participants: the machine has " + std::to_string(machine.allowed.count()) +
                 " cpus, and sharing a cpu is not modelled"};
  }
  const Result<std::vector<CpuSet>> bindings = map_participants(machine, mapping, num_participants);
  if (!bindings) return Error{bindings.error()};
  Result<Places> places = Places::make(machine, *bindings);
  if (!places) return Error{places.error()};
  Scenario scenario;
  scenario.machine_ = machine;
  scenario.paths_ = locate_all(machine, *bindings);
  scenario.places_ = std::make_unique<Places>(*std::move(places));
  scenario.simulator_ = std::make_unique<Simulator>(*scenario.places_);
  return scenario;
}

EnginePlan Scenario::engine_plan(hierbar_release_kind release) const {
  return *build_engine_plan(paths_, machine_, ShapeOptions{.release = release});
}

Result<EnginePlan> Scenario::group_plan(const std::vector<Level>& levels) const {
  return build_group_plan(build_group_tree(paths_, machine_, levels), engine_plan());
}

}  // namespace hierbar::bench::model

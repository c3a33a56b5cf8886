// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "fuzz_target.hpp"
#include "plan/locality.hpp"
#include "plan/shape.hpp"
#include "plan/soundness.hpp"
#include "topology/export/machine_image.hpp"
#include "topology/export/machine_text.hpp"
#include "topology/machine.hpp"

namespace hierbar::test {

// What holds for every machine that was accepted, wherever it came from.
inline void check_machine(const Machine& machine) {
  require(machine_problem(machine).empty(),
          "a machine that is accepted is sound: " + machine_problem(machine));
  const Result<Machine> copy = machine_from_image(machine_image(machine));
  require(copy.ok() && machine_image(*copy) == machine_image(machine),
          "a machine can be passed on");
  for (const Level level : active_levels(machine)) {
    require(level != Level::kCore && level != Level::kMachine,
            "an active level is between cores and machine");
  }
  // Its size: printing and planning take longer for large machines, and large ones reach no other
  // code.
  if (machine.units.size() > 2000) return;
  require(!describe(machine, Detail::kCollapsed).empty(), "a machine can be shown");
  for (const std::uint32_t num_participants : {5U, 40U}) {
    const auto bindings = map_participants(machine, Mapping::kNuma, num_participants);
    require(bindings.ok() == !machine.allowed.empty(),
            "participants have cpus where a cpu is allowed");
    if (!bindings) return;
    const auto plan = build_engine_plan(locate_all(machine, *bindings), machine, ShapeOptions{});
    require(plan.ok() && is_sound(plan->view()), "every machine has plans");
  }
}

}  // namespace hierbar::test

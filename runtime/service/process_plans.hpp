// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "plan/profile.hpp"
#include "plan/settings.hpp"
#include "plan/shape.hpp"
#include "topology/cpu_set.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// On how many cpus the participants run, at most: those of their bindings. If one is unbound, or if
// there are no bindings, those that this process may use count as well
// (docs/design/waiting.md#d0015).
std::uint32_t count_cpus(const std::vector<CpuSet>& bindings);

// What the process knows, its settings and its machine, and the plans that follow from them. Each
// is read once, when it is first needed. Any thread may call all functions, also in a child of
// fork().

// Receives one line of text. May be empty: a line that nobody received goes to the next listener.
using Listener = std::function<void(const char* line)>;

// Checks every HIERBAR_* setting on which plans depend, without reading the machine. Each bad one
// is reported once. Returns how many were bad.
int check_plan_settings(const Listener& report);

const Machine& known_machine(const Listener& report);

// The profile that plans use; null if there is none for this machine.
const Profile* known_profile(const Listener& report);

// Takes `machine`, which another process of the node has loaded, as the machine of this process, so
// that nothing is loaded. If this process knows its machine already, that one stays. Returns the
// one that is known then.
const Machine& adopt_machine(Machine machine);

struct PlanRequest {
  std::uint32_t num_participants = 0;
  // By participant; an empty set means unbound. No entries at all: no location is known.
  std::vector<CpuSet> bindings = {};
  const PlanSettings* settings = nullptr;  // null: those of the environment
};

// Errors: those of build_engine_plan(). If the machine cannot be read, or lacks a level that was
// asked for, that is reported and the plan is made without.
Result<EnginePlan> make_plan(const PlanRequest& request, const Listener& report);

// The plan of the paper's groups for the same participants, for the algorithm `topo`. `engine` is
// the plan that make_plan() made for the same request. Errors: why the paper's algorithm steps
// aside.
Result<EnginePlan> make_group_plan(const PlanRequest& request, const EnginePlan& engine,
                                   const Listener& report);

}  // namespace hierbar

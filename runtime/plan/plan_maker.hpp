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
#include "topology/machine.hpp"

namespace hierbar {

// What the process knows, its settings and its machine, and the plans that follow from it. Each is read once, when it is first
// needed; all functions may be called by any thread, also in a child of fork().

// Receives one line of text; may be empty. What nobody listened to is told to the next listener.
using Listener = std::function<void(const char* line)>;

// Checks every HIERBAR_* setting that plans depend on, without looking at the machine; each bad one is reported once. Returns how
// many were bad.
int check_plan_settings(const Listener& report);

const Machine& known_machine(const Listener& report);

// The profile that plans use; null if there is none of this machine.
const Profile* known_profile(const Listener& report);

// Takes `machine`, which another process of the node has loaded, for this process's, so that nothing is loaded; what is known
// already stays. Returns the one that is known then.
const Machine& adopt_machine(Machine machine);

struct PlanRequest {
  std::uint32_t num_participants = 0;
  std::vector<CpuSet> bindings = {};       // by participant; an empty set is unbound; none at all: no location is known
  const PlanSettings* settings = nullptr;  // null: those of the environment
};

// Errors: those of build_engine_plan(). A machine that cannot be read, or lacks a wanted level, is reported and the plan made
// without.
Result<EnginePlan> make_plan(const PlanRequest& request, const Listener& report);

// The plan of the paper's groups for the same participants, for the algorithm `topo`. `engine` is what make_plan() made of the
// same request. Errors: why the paper's algorithm steps aside.
Result<EnginePlan> make_group_plan(const PlanRequest& request, const EnginePlan& engine, const Listener& report);

}  // namespace hierbar

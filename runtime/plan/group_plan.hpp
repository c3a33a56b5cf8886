// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/result.hpp"
#include "plan/group_tree.hpp"
#include "plan/shape.hpp"

namespace hierbar {

// The paper's groups as a plan, for the algorithm `topo` (docs/design/engine.md#d0013). The leaders are the
// members of TOP. The children of a participant are the members of the groups below TOP that it
// leads, from the lowest level up, which is the order in which it polls them. Children ascend
// within a level, but not over all levels of a participant, so the plan is not fit for ordered
// reductions.
//
// Slots, and everything else, are those of `engine`, the plan of the same participants. The error
// says why the algorithm steps aside.
Result<EnginePlan> build_group_plan(const GroupTree& tree, const EnginePlan& engine);

}  // namespace hierbar

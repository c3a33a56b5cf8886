// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "plan/plan.h"

namespace hierbar {

// Checks of plans that another process has written. Nothing in them is used before it is checked.

// Whether the plan's numbers are in the ranges of plans, so that sizes can be computed from them.
// Reads none of its arrays.
bool has_possible_numbers(const hierbar_plan& plan);

// Whether everything holds on which a barrier relies: numbers in range, no index outside of the
// plan, a slot of its own for every participant, and every participant in the forest once. O(n).
bool is_sound(const hierbar_plan& plan);

}  // namespace hierbar

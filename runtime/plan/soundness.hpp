// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "plan/plan.h"

namespace hierbar {

// For plans that another process has written: nothing in them is believed before it is checked.

// Whether the plan's numbers are in the ranges that plans have, so that sizes can be computed from them. Reads none of its
// arrays.
bool has_possible_numbers(const hierbar_plan& plan);

// Whether all that a barrier relies on holds: possible numbers, no index leads out of the plan, every participant has its own
// slot and is in the forest once. O(n).
bool is_sound(const hierbar_plan& plan);

}  // namespace hierbar

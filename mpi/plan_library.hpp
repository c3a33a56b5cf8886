// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/binding.hpp"
#include "plan/plan.h"
#include "topology/result.hpp"

namespace hierbar::mpi {

// Makes the plan of the ranks of one node, in the order of `bindings`, and returns its image. Up to four need no look at the
// machine; for more, libhierbar.so is loaded from beside this library, once in a process and only in the process that plans.
// What it has to say about settings and the machine is told once. Thread-safe.
Result<std::vector<std::byte>> make_plan_image(const std::vector<Binding>& bindings);

// What the groups of a plan have in common, each a hierbar_unit: see hierbar_plan_units().
struct PlanUnits {
  std::vector<std::uint8_t> gather;  // by participant
  std::uint8_t exchange = 0;
};
// Looks at the machine, which takes some 20 ms. All are unknown when libhierbar.so cannot be loaded or the machine not read.
PlanUnits find_plan_units(const hierbar_plan& plan, const std::vector<Binding>& bindings);

}  // namespace hierbar::mpi

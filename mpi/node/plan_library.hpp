// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrier/algorithm_names.hpp"
#include "base/result.hpp"
#include "mpi/node/binding.hpp"
#include "plan/plan.h"

namespace hierbar::mpi {

// Makes the plan for the ranks of one node, in the order of `bindings`, and returns its image. Up
// to four ranks need no knowledge of the machine. For more, libhierbar.so is loaded from the folder
// of this library, once in a process, and only in the process that plans. Its messages about
// settings and the machine are printed once. Thread-safe.
//
// For `topo` it is a plan of the paper's groups, for which the machine must be known. The error may
// be that it has none.
Result<std::vector<std::byte>> make_plan_image(const std::vector<Binding>& bindings,
                                               Algorithm algorithm = Algorithm::kHier);

// The part of the machine that the members of each group of a plan share, each as a hierbar_unit
// (see hierbar_plan_units()).
struct PlanUnits {
  std::vector<std::uint8_t> gather;  // by participant
  std::uint8_t exchange = 0;
};
// Reads the machine, which takes some 20 ms. All units are unknown if libhierbar.so cannot be
// loaded or the machine cannot be read.
PlanUnits find_plan_units(const hierbar_plan& plan, const std::vector<Binding>& bindings);

}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "plan/locality.hpp"
#include "plan/plan.h"

namespace hierbar {

// What the participants of each group of a plan have in common, for reports on its levels.
struct GroupUnits {
  // For each participant: the smallest named unit that holds it and all from which it gathers, as
  // hierbar_unit (base/unit.h). Unknown if it gathers from nobody, or if one of them is unbound.
  std::vector<std::uint8_t> gather;
  std::uint8_t exchange = 0;  // the same of all leaders
};

// `paths` has the location of each participant. O(participants x depth of the machine's tree).
GroupUnits find_group_units(const hierbar_plan& plan, const Machine& machine, const std::vector<LocalityPath>& paths);

}  // namespace hierbar

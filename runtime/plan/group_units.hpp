// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "plan/locality.hpp"
#include "plan/plan.h"

namespace hierbar {

// What the participants of each group of a plan have in common, for people who read figures of its levels.
struct GroupUnits {
  // By participant: the smallest named unit that holds it and all that it gathers from, as hierbar_unit (trace/stamps.h);
  // unknown for one that gathers from nobody, and where a member is not bound.
  std::vector<std::uint8_t> gather;
  std::uint8_t exchange = 0;  // the same of all leaders
};

// `paths` says where the participants are, one for each. O(participants x depth of the machine's tree).
GroupUnits find_group_units(const hierbar_plan& plan, const Machine& machine, const std::vector<LocalityPath>& paths);

}  // namespace hierbar

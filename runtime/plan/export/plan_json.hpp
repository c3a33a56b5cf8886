// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/groups.hpp"
#include "plan/plan.h"

namespace hierbar {

// {"depth", "stepped_aside": null | reason,
//  "levels": [{"name": "G1", "level": "numa", "groups": [{"leader", "members": []}]}]}
nlohmann::ordered_json to_json(const GroupTree& tree);

// {"depth", "gather_levels", "release", "leaders": [], "crews": [[]],
//  "arities": {"exchange", "gather": {children: parents}},
//  "line_bytes", "lines_per_slot", "num_slots",
//  "participants": [{"parent", "children": [], "slot"}]}
nlohmann::ordered_json to_json(const hierbar_plan& plan);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "topology/machine.hpp"

namespace hierbar {

// The machine for programs: the members of Machine under their own names. Sets of cpus are in the
// kernel's list format. Units are an array; "parent" and "children" are positions in it (the
// machine's parent is null). "active_levels" is what active_levels() returns, lowest first. A
// unit's "active" lists those of its labels that are active levels, if allowed cores share the
// unit.
nlohmann::ordered_json to_json(const Machine& machine);

}  // namespace hierbar

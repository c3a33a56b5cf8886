// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "topology/machine.hpp"

namespace hierbar {

// The machine for programs: the members of Machine under their own names, sets of cpus in the kernel's list format, units as an
// array whose positions are what "parent" and "children" mean (the machine's parent is null), and "active_levels" as
// active_levels() has them, lowest first. A unit's "active" lists those of its labels that are active levels and on which it is
// shared.
nlohmann::ordered_json to_json(const Machine& machine);

}  // namespace hierbar

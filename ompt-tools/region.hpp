// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ompt-tools/ompt_api.h"

namespace hierbar::ompt {

class Team;

// What the runtime's parallel_data points to: one region.
struct Region {
  Team* team = nullptr;   // null: the region is not recorded
  ompt_data_t chained{};  // the parallel_data of the tool behind this one
};

inline Region* region_of(const ompt_data_t* parallel) {
  return parallel == nullptr ? nullptr : static_cast<Region*>(parallel->ptr);
}

}  // namespace hierbar::ompt

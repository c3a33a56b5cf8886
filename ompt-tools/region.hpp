// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "trace/ompt_api.h"

namespace hierbar::report {

class RecordedTeam;

// One parallel region. The runtime's parallel_data points to it.
struct Region {
  RecordedTeam* team = nullptr;  // null if the region is not recorded
  ompt_data_t chained{};         // the parallel_data of the chained tool
};

inline Region* region_of(const ompt_data_t* parallel) {
  return parallel == nullptr ? nullptr : static_cast<Region*>(parallel->ptr);
}

}  // namespace hierbar::report

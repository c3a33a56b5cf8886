// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "bench/common/groups.hpp"
#include "bench/omp/configuration.hpp"

namespace hierbar::bench {

struct Results : Measurements {
  std::vector<Configuration> configurations;
  double stamp_ns = 0;  // the cost of a reading of the tool's clock with --tools; else 0
};

}  // namespace hierbar::bench

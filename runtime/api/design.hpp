// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "api/waiting.hpp"
#include "barrier/algorithm.hpp"
#include "hierbar/hierbar.h"
#include "plan/shape.hpp"

namespace hierbar {

// What a barrier is made from. It comes from attributes, or from a segment.
struct BarrierDesign {
  Algorithm algorithm = Algorithm::kHier;
  EnginePlan plan = {};
  WaitLimits limits = {HIERBAR_AUTO, HIERBAR_AUTO, HIERBAR_AUTO};
  std::uint32_t num_cpus = 0;  // of all participants together
};

// Makes the design that attributes ask for. Reports what is wrong, and what differs from what was
// asked for. Returns HIERBAR_OK, HIERBAR_ERR_INVALID or HIERBAR_ERR_VERSION.
hierbar_status design_barrier(const hierbar_attributes* attributes, BarrierDesign& design);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "api/segment.hpp"
#include "hierbar/hierbar.h"
#include "plan/plan_maker.hpp"

namespace hierbar {

// What hierbar_attributes asks for, checked, and ready to be written into a segment.
struct BarrierDesign {
  Algorithm algorithm;
  EnginePlan plan;
  WaitLimits limits;
  std::uint32_t num_cpus;

  // Valid while this object lives and stays where it is.
  SegmentContents contents() const { return {algorithm, plan.view(), limits, num_cpus}; }
};

// Reports what is wrong and what is not as it was asked for. HIERBAR_OK, HIERBAR_ERR_INVALID or HIERBAR_ERR_VERSION.
hierbar_status design_barrier(const hierbar_attributes* attributes, BarrierDesign& design);

}  // namespace hierbar

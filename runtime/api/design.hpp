// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "barrier/algorithm.hpp"
#include "barrier/thread_host.hpp"
#include "hierbar/hierbar.h"
#include "plan/shape.hpp"

namespace hierbar {

// hierbar_waiting without the callback: what processes can share. A field may be HIERBAR_AUTO.
struct WaitLimits {
  std::int64_t spin_polls;
  std::int64_t yields;
  std::int64_t sleep_limit_ns;
};

WaitLimits limits_of(const hierbar_waiting& waiting);

// Which limit is out of range, and what is allowed; empty if none is.
std::string limits_problem(const WaitLimits& limits);

// How the participants of one process wait. `of_barrier` is what the barrier was made with; `own`
// may be null. Requires that no limit is out of range.
WaitPolicy wait_policy(const WaitLimits& of_barrier, const hierbar_waiting* own,
                       bool oversubscribed);

// What a barrier is made from. It comes from attributes, or from a segment.
struct BarrierDesign {
  Algorithm algorithm = Algorithm::kHier;
  EnginePlan plan = {};
  WaitLimits limits = {HIERBAR_AUTO, HIERBAR_AUTO, HIERBAR_AUTO};
  std::uint32_t num_cpus = 0;  // of all participants together
  bool has_collectives = false;
};

// Makes the design that attributes ask for. Reports what is wrong, and what differs from what was
// asked for. Returns HIERBAR_OK, HIERBAR_ERR_INVALID or HIERBAR_ERR_VERSION.
hierbar_status design_barrier(const hierbar_attributes* attributes, BarrierDesign& design);

}  // namespace hierbar

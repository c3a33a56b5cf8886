// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "barrier/algorithm.hpp"
#include "barrier/thread_host.hpp"
#include "hierbar/hierbar.h"

// Replaces runtime/api/handle.hpp: a barrier as one process sees it, without segment, planner and
// heap.
namespace hierbar {
using ApiMem = RealMem<ThreadHost>;
}

struct hierbar_barrier {
  struct Design {
    hierbar::Algorithm algorithm;
  };

  const Design design;
  const hierbar_plan& plan;
  const hierbar::WaitPolicy& policy;
  hierbar::AbortFlag& aborted;
  hierbar::ParkingSpot* const spots;
  void* const lines;
  const hierbar::Barrier<hierbar::ApiMem> engine;
};

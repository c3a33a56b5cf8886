// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "api/design.hpp"
#include "api/segment.hpp"

// A barrier as one process sees it: what the hot path needs, copied from the segment and checked.
struct hierbar_barrier {
  // `fencing`: kBySleepers only if all participants are threads of this process, which has
  // registered (base/membarrier.hpp).
  hierbar_barrier(void* memory, hierbar::BarrierDesign made, const hierbar_waiting* waiting,
                  hierbar::Fencing fencing)
      : design(std::move(made)),
        plan(design.plan.view()),
        layout(hierbar::segment_layout(design, plan)),
        policy(
            hierbar::wait_policy(design.limits, waiting, plan.num_participants > design.num_cpus)),
        aborted(hierbar::BarrierSegment(memory).header().aborted),
        spots(hierbar::BarrierSegment(memory).spots(layout)),
        lines(hierbar::BarrierSegment(memory).at(layout.lines_offset)),
        engine(plan, lines, fencing) {
    if (!design.has_collectives) return;
    const hierbar::BarrierSegment segment(memory);
    collectives.emplace(
        hierbar::ApiCollectives{{plan, segment.at(layout.collectives_offset), fencing},
                                {plan, segment.at(layout.one_way_offset), fencing}});
  }
  hierbar_barrier(const hierbar_barrier&) = delete;
  hierbar_barrier& operator=(const hierbar_barrier&) = delete;

  const hierbar::BarrierDesign design;
  const hierbar_plan plan;  // points into `design`
  const hierbar::SegmentLayout layout;
  const hierbar::WaitPolicy policy;
  hierbar::AbortFlag& aborted;
  hierbar::ParkingSpot* const spots;
  void* const lines;
  const hierbar::Barrier<hierbar::ApiMem> engine;  // used if the algorithm is hier
  std::optional<hierbar::ApiCollectives> collectives;
  // The memory of hierbar_barrier_create(), to be unmapped; null: the memory is the caller's.
  void* private_memory = nullptr;
};

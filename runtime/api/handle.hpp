// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <utility>

#include "api/segment.hpp"
#include "barrier/barrier.hpp"

// One process's view of a barrier: what the hot path needs of it, copied out of the segment and checked.
struct hierbar_barrier {
  hierbar_barrier(void* memory, hierbar::Algorithm of_segment, hierbar::EnginePlan made, const hierbar_waiting* waiting)
      : segment(memory),
        algorithm(of_segment),
        plan(std::move(made)),
        view(plan.view()),
        layout(hierbar::segment_layout(algorithm, view)),
        num_cpus(segment.header().num_cpus),
        policy(hierbar::wait_policy(segment.header().limits, waiting, view.num_participants > num_cpus)),
        spots(segment.spots(layout)),
        aborted(segment.header().aborted),
        lines(segment.lines(layout)),
        engine(view, lines) {}
  hierbar_barrier(const hierbar_barrier&) = delete;
  hierbar_barrier& operator=(const hierbar_barrier&) = delete;

  const hierbar::Segment segment;
  const hierbar::Algorithm algorithm;
  const hierbar::EnginePlan plan;
  const hierbar_plan view;
  const hierbar::SegmentLayout layout;
  const std::uint32_t num_cpus;
  const hierbar::WaitPolicy policy;
  hierbar::ParkingSpot* const spots;
  hierbar::AbortFlag& aborted;
  void* const lines;
  const hierbar::Barrier<hierbar::ApiMem> engine;  // used when the algorithm is hier
  void* private_memory = nullptr;                  // of hierbar_barrier_create(): to be unmapped; null: the caller's
};

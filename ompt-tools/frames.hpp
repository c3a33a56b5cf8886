// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "ompt-tools/tool.hpp"

namespace hierbar::report {

// The thread itself keeps which regions it is in; task_data and thread_data are not used. This does
// not change while a barrier is under way, with one exception: a waiting thread may run tasks, and
// these may have regions of their own. Hence a stack.

struct Thread;

// A region that a thread is in.
struct Frame {
  Thread* thread = nullptr;
  RecordedTeam* team = nullptr;
  RecordedTeam::Participant* own = nullptr;
  Record* record = nullptr;       // of the barrier in which it waits
  Record* last_record = nullptr;  // of its last barrier, if that was recorded
  const void* waiting_task = nullptr;
  std::uint64_t task_start = 0;
};

constexpr int kMaxDepth = 16;  // regions nested deeper are not recorded

struct Thread {
  Frame frames[kMaxDepth];
  int depth = 0;
  RawRing* ring = nullptr;                      // null if no pictures are asked for
  hierbar_phases* asks_nobody = nullptr;        // used in place of our libomp's pointer
  hierbar_phases** next_phases = &asks_nobody;  // where libomp finds the place for its stamps
  // The last outer region of which this thread was the primary.
  std::uint64_t region_end = 0;
  std::uint32_t region_size = 0;

  Frame* top() { return depth > 0 && depth <= kMaxDepth ? &frames[depth - 1] : nullptr; }
};

}  // namespace hierbar::report

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/baselines/blocks.hpp"

namespace hierbar {

// The hierarchical barrier of M. G. Kurnosov (Vestnik SibGUTI 16(2), 2022, section 2.2), `topo`.
// The engine was made as an answer to it.
//
//   1. From the lowest level up, the leader of a group polls the counters of its members until all
//      have arrived.
//   2. A member that leads no further group increments its own counter.
//   3. Participant 0 leads the last group, TOP. It writes one global sense; all others wait for it.
//
// The groups are those of the plan (docs/design/engine.md#d0013). A node's children are the members
// of the groups that it leads, in the order in which it polls them. The leaders are the members of
// TOP. build_group_plan() makes such a plan from the paper's groups. A leader's counters on the
// levels that it leads are read by itself only, so its epoch stands for them. One counter for each
// participant remains to be polled.
//
// Messages: 2(n - 1) for n participants. Depth: one line transfer for each level that gathers, and
// one for the sense. But a leader fetches its members' lines one after the other, and the line of
// the sense goes to everybody in turn.
template <class Mem>
class TopoBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return Blocks<Mem>::size_bytes(plan, kNumFlags);
  }

  TopoBarrier(const hierbar_plan& plan, void* memory) noexcept
      : plan_(plan), blocks_(plan, memory, kNumFlags) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    const hierbar_plan_node& node = plan_.nodes[me];
    // 1. The groups below TOP.
    if (poll(mem, me, plan_.children + node.first_child, node.num_children, epoch) ==
        WaitResult::kAborted)
      return WaitResult::kAborted;
    if (me == 0) {
      // 1. The group TOP.
      if (poll(mem, me, plan_.leaders + 1, plan_.num_leaders - 1, epoch) == WaitResult::kAborted)
        return WaitResult::kAborted;
      // 3.
      mem.fence();  // (R0)
      blocks_.release_all(mem, 0, blocks_.flag(0, kSense), epoch);
      return WaitResult::kReleased;
    }
    // 2.
    blocks_.signal(mem, blocks_.flag(me, kArrival).raised[0], epoch,
                   node.parent == me ? 0 : node.parent);
    return blocks_.await_release(mem, me, blocks_.flag(0, kSense), epoch, 0);
  }

 private:
  enum : std::uint32_t { kArrival, kSense, kNumFlags };

  WaitResult poll(Mem& mem, std::uint32_t me, const std::uint32_t* members, std::uint32_t count,
                  Epoch epoch) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      Word& arrival = blocks_.flag(members[i], kArrival).raised[0];
      if (blocks_.await_signal(mem, me, arrival, epoch, members[i]) == WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    return WaitResult::kReleased;
  }

  using Word = typename Mem::Word;
  const hierbar_plan& plan_;
  Blocks<Mem> blocks_;
};

}  // namespace hierbar

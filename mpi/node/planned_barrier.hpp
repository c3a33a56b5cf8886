// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "mpi/node/barrier_block.hpp"
#include "mpi/node/plan_image.hpp"
#include "mpi/node/rank_host.hpp"

namespace hierbar::mpi {

// A plan, the block in which its barrier lies, and the engine over the two, as one process has
// them. The process may use it for several participants, each in one thread at a time. All
// participants use the engine, or all use the baseline that the block has been made for.
class PlannedBarrier {
 public:
  // `fencing` is alike in all participants. kBySleepers requires that all of them
  // can_fence_ranks().
  PlannedBarrier(ReadPlan plan, std::shared_ptr<NodeSegment> segment, std::uint32_t first_unit,
                 Algorithm algorithm = Algorithm::kHier, Fencing fencing = Fencing::kByWriters)
      : plan_(std::move(plan)),
        block_(std::move(segment), first_unit, plan_.plan(), algorithm),
        barrier_(plan_.plan(), block_.memory(), fencing) {}
  PlannedBarrier(const PlannedBarrier&) = delete;
  PlannedBarrier& operator=(const PlannedBarrier&) = delete;

  const hierbar_plan& plan() const noexcept { return plan_.plan(); }
  const BarrierBlock& block() const noexcept { return block_; }

  // A barrier when all participants are on this node. Returns the OR of all bits.
  template <class Trace>
  std::uint32_t cross(std::uint32_t me, std::uint32_t bits, const Waiting& waiting,
                      const WaitDuties& duties, Trace& trace) const noexcept {
    RankHost host(block_, me, waiting, duties);
    RankMem mem(host);
    return barrier_.cross(mem, me, bits, trace).bits;
  }

  // A barrier when there are other nodes. meet(bits) runs in participant 0, with the OR of all
  // bits, after all participants of the node have arrived and before any of them leaves. Returns in
  // all of them what it returned, which must be below 64.
  template <class Meet, class Trace>
  std::uint32_t cross_around(std::uint32_t me, std::uint32_t bits, const Waiting& waiting,
                             const WaitDuties& duties, Meet&& meet, Trace& trace) const noexcept {
    RankHost host(block_, me, waiting, duties);
    RankMem mem(host);
    trace.arrived();
    // Called once for each child or other leader that has arrived. The stamp of the last call
    // remains.
    const std::uint32_t gathered =
        barrier_.gather(mem, me, bits, [&](std::uint32_t) { trace.gathered(); }).bits;
    return barrier_.release(mem, me, me == 0 ? meet(gathered) : 0, trace).bits;
  }

  // The same two by the block's baseline. It has no payload and no steps in between, so around a
  // meeting it is crossed twice.
  template <class Trace>
  void cross_by_baseline(std::uint32_t me, const Waiting& waiting, const WaitDuties& duties,
                         Trace& trace) const noexcept {
    trace.arrived();
    block_.begin_baseline(me);
    cross_baseline(block_, me, waiting, duties);
    trace.released();
  }
  template <class Meet, class Trace>
  std::uint32_t cross_around_by_baseline(std::uint32_t me, const Waiting& waiting,
                                         const WaitDuties& duties, Meet&& meet,
                                         Trace& trace) const noexcept {
    trace.arrived();
    block_.begin_baseline(me);
    cross_baseline(block_, me, waiting, duties);
    if (me == 0) {
      trace.gathered();
      block_.host_line(0).meeting_bits = meet();
    }
    cross_baseline(block_, me, waiting, duties);
    trace.released();
    // Participant 0 writes the next one when all have come to the next barrier.
    return block_.host_line(0).meeting_bits;
  }

 private:
  ReadPlan plan_;
  BarrierBlock block_;
  RankBarrier barrier_;
};

}  // namespace hierbar::mpi

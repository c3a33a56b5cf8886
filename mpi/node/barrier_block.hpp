// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "barrier/algorithm_names.hpp"
#include "barrier/barrier.hpp"
#include "barrier/real_mem.hpp"
#include "mpi/node/segment.hpp"
#include "mpi/node/wait_evidence.hpp"
#include "plan/plan.h"

namespace hierbar::mpi {

class BarrierBlock;
struct Waiting;
struct WaitDuties;

// The baselines among the ranks of a node, for comparison (HIERBAR_ALGORITHM). They wait as the
// engine does (RankHost): every rank that waits makes progress, and sleeps after a while. They are
// compiled apart from the engine.

// The memory of a baseline: the same number of bytes for each slot of the plan.
std::size_t baseline_bytes(Algorithm algorithm, const hierbar_plan& plan) noexcept;

// One crossing of the block's baseline, as participant `me`.
void cross_baseline(const BarrierBlock& block, std::uint32_t me, const Waiting& waiting,
                    const WaitDuties& duties) noexcept;

// What a rank keeps in the fourth line of its slot. The engine leaves that line to its host.
struct HostLine {
  // 1: the owner sleeps here or is about to. Written by the owner and by whoever wakes it.
  std::atomic<std::uint32_t> parked;
  // Participant 0's only: the number of members that may still touch the block. Written by all of
  // them.
  std::atomic<std::uint32_t> attached;
  // Participant 0's only: which block this is. Written before the other members read it.
  std::uint64_t generation;
  // Participant 0's only. 1: other ranks have come since, and now the ranks outnumber the cpus. Any
  // member may write it. A rank reads it after it has waited for a while
  // (docs/design/mpi-calls.md#d0029).
  std::atomic<std::uint32_t> oversubscribed;
  // Participant 0's only, for all: where they sleep together (park_together()). Written by whoever
  // wakes them.
  std::atomic<std::uint32_t> num_wakings;
  YieldHistory yield_history;  // the owner's; nobody else uses it
  // Participant 0's only: what its meeting returned, when a baseline runs. It writes it between two
  // crossings, and the others read it after the second one.
  std::uint32_t meeting_bits;
};

// Whether a participant has entered the episode in which `observer` is. Relaxed: the result is only
// printed.
inline bool has_entered(const hierbar_plan& plan,
                        const BarrierMemory<std::atomic<std::uint64_t>>& lines,
                        std::uint32_t participant, std::uint32_t observer) noexcept {
  const auto epoch_of_own = [&](std::uint32_t i) {
    return lines.own(plan.nodes[i].slot).epoch.load(std::memory_order_relaxed);
  };
  return reached(epoch_of_own(participant), epoch_of_own(observer));
}

// One communicator's part of a segment: the memory of its barrier. Participant 0 claims it. The
// last member to detach frees it, because a rank may leave the last barrier, free the communicator
// and make a new one while others are still leaving that barrier.
//
// If a baseline runs in place of the engine, its memory lies behind the engine's. Of the engine's
// the host lines and the counts of episodes are used then.
//
// Memory ordering. (B1) acq_rel in detach(); pairs with itself. The last to detach sees all
// accesses of the others before it frees the units. With (U1) and (U2) of segment_allocator.hpp
// they also come before anything that a new user of the units does.
class BarrierBlock {
 public:
  using Word = std::atomic<std::uint64_t>;

  static std::uint32_t num_units(const hierbar_plan& plan,
                                 Algorithm algorithm = Algorithm::kHier) noexcept {
    const std::size_t bytes = algorithm == Algorithm::kHier
                                  ? BarrierMemory<Word>::size_bytes(plan)
                                  : baseline_offset(plan) + baseline_bytes(algorithm, plan);
    return NodeSegment::units_for(bytes);
  }

  // The multiple of units at which a block must start. If a plan's participants are on several NUMA
  // nodes, slots are aligned to pages, otherwise to lines.
  static std::uint32_t alignment(const hierbar_plan& plan, std::uint32_t page_bytes) noexcept {
    const std::uint32_t bytes =
        plan.num_slots > plan.num_participants ? page_bytes : plan.line_bytes;
    return bytes <= NodeSegment::kUnitBytes ? 1 : bytes / NodeSegment::kUnitBytes;
  }

  BarrierBlock(std::shared_ptr<NodeSegment> segment, std::uint32_t first_unit,
               const hierbar_plan& plan, Algorithm algorithm = Algorithm::kHier) noexcept
      : segment_(std::move(segment)),
        plan_(&plan),
        first_unit_(first_unit),
        lines_(segment_->unit(first_unit), plan.line_bytes),
        algorithm_(algorithm) {}

  Algorithm algorithm() const noexcept { return algorithm_; }
  const hierbar_plan& plan() const noexcept { return *plan_; }
  void* memory() const noexcept { return segment_->unit(first_unit_); }
  // Requires that a baseline runs.
  void* baseline_memory() const noexcept {
    return static_cast<std::byte*>(memory()) + baseline_offset(*plan_);
  }
  const NodeSegment& segment() const noexcept { return *segment_; }

  // Allocates and clears the slot of participant `me`. Returns false if no memory is left. Each
  // participant does this for its own slot before any of them crosses. Participant 0 does it before
  // publish(), because the others check the generation that publish() writes.
  bool clear_slot(std::uint32_t me) const noexcept {
    const std::size_t slot = plan_->nodes[me].slot;
    const std::size_t slot_bytes = HIERBAR_LINES_PER_SLOT * plan_->line_bytes;
    if (!clear(slot * slot_bytes, slot_bytes)) return false;
    if (algorithm_ == Algorithm::kHier) return true;
    const std::size_t bytes = baseline_bytes(algorithm_, *plan_) / plan_->num_slots;
    return clear(baseline_offset(*plan_) + slot * bytes, bytes);
  }

  void publish(std::uint64_t generation) const noexcept {
    host_line(0).generation = generation;
    // Relaxed: the others read it after the collective call that tells them where the block is.
    host_line(0).attached.store(plan_->num_participants, std::memory_order_relaxed);
  }
  bool is_of(std::uint64_t generation) const noexcept {
    return host_line(0).generation == generation;
  }

  // This member will not touch the block again. The last member frees the block, and is told so:
  // what belongs to it can be freed, too.
  bool detach() const noexcept {
    if (host_line(0).attached.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;  // (B1)
    segment_->units().release(first_unit_, num_units(*plan_, algorithm_));
    return true;
  }

  // Both relaxed: the value only changes how ranks wait.
  void mark_oversubscribed() const noexcept {
    host_line(0).oversubscribed.store(1, std::memory_order_relaxed);
  }
  bool is_oversubscribed() const noexcept {
    return host_line(0).oversubscribed.load(std::memory_order_relaxed) != 0;
  }

  HostLine& host_line(std::uint32_t participant) const noexcept {
    return *static_cast<HostLine*>(lines_.host(plan_->nodes[participant].slot));
  }

  // Counts an episode of a baseline for has_entered(). The engine counts its own.
  void begin_baseline(std::uint32_t me) const noexcept {
    Word& epoch = lines_.own(plan_->nodes[me].slot).epoch;
    // Relaxed: the others only print what follows from it.
    epoch.store(next_epoch(epoch.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  }

  bool has_entered(std::uint32_t participant, std::uint32_t observer) const noexcept {
    return mpi::has_entered(*plan_, lines_, participant, observer);
  }

 private:
  // Behind the engine's memory, and aligned as that is.
  static std::size_t baseline_offset(const hierbar_plan& plan) noexcept {
    const std::size_t unit =
        std::size_t{alignment(plan, static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE)))} *
        NodeSegment::kUnitBytes;
    return (BarrierMemory<Word>::size_bytes(plan) + unit - 1) / unit * unit;
  }

  bool clear(std::size_t begin, std::size_t bytes) const noexcept {
    return segment_->clear(first_unit_, begin, bytes);
  }

  std::shared_ptr<NodeSegment> segment_;
  const hierbar_plan* plan_;  // must outlive the block
  std::uint32_t first_unit_;
  BarrierMemory<Word> lines_;
  Algorithm algorithm_;
};

}  // namespace hierbar::mpi

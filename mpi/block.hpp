// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "barrier/barrier.hpp"
#include "barrier/real_mem.hpp"
#include "mpi/segment.hpp"

namespace hierbar::mpi {

// What a rank keeps in the fourth line of its slot, which the barrier itself leaves to its host.
struct HostLine {
  std::atomic<std::uint32_t> parked;    // 1: the owner sleeps here, or is about to. Writers: the owner, who wakes it
  std::atomic<std::uint32_t> attached;  // participant 0's: members that may still touch the block. Writers: all of them
  std::uint64_t generation;             // participant 0's: which block this is; written before the others look
  std::atomic<std::uint32_t> crowded;   // participant 0's: 1 when other ranks have come since, and now all of them outnumber the
                                        // cpus. Writers: any member. Readers: those who have waited for a while
};

// One communicator's part of a segment: the lines of its barrier. Claimed by participant 0; freed by whoever is the last to let
// go of it, since a rank may leave the last barrier, free the communicator and make a new one while others still leave that
// barrier.
//
// Ordering. (B1) acq_rel: the last to detach sees all others' accesses before it frees the units; with (U1) and (U2) they come
// before anything a new user does.
class Block {
 public:
  using Word = std::atomic<std::uint64_t>;

  static std::uint32_t num_units(const hierbar_plan& plan) noexcept {
    return static_cast<std::uint32_t>((Lines<Word>::size_bytes(plan) + Segment::kUnitBytes - 1) / Segment::kUnitBytes);
  }

  // Where the block must start: plans whose participants are on several NUMA nodes count on pages, all others on lines.
  static std::uint32_t alignment(const hierbar_plan& plan, std::uint32_t page_bytes) noexcept {
    const std::uint32_t bytes = plan.num_slots > plan.num_participants ? page_bytes : plan.line_bytes;
    return bytes <= Segment::kUnitBytes ? 1 : bytes / Segment::kUnitBytes;
  }

  Block(std::shared_ptr<Segment> segment, std::uint32_t first_unit, const hierbar_plan& plan) noexcept
      : segment_(std::move(segment)),
        plan_(&plan),
        first_unit_(first_unit),
        lines_(segment_->unit(first_unit), plan.line_bytes) {}

  void* memory() const noexcept { return segment_->unit(first_unit_); }
  const Segment& segment() const noexcept { return *segment_; }

  // Allocates and clears the slot of participant `me`. False: no memory is left. Every participant does this for itself before
  // any of them crosses; for participant 0 it comes first, since the generation is what the others check.
  bool clear_slot(std::uint32_t me) const noexcept {
    const std::uint32_t slot_bytes = HIERBAR_LINES_PER_SLOT * plan_->line_bytes;
    const std::size_t begin = std::size_t{plan_->nodes[me].slot} * slot_bytes;
    const auto first = static_cast<std::uint32_t>(begin / Segment::kUnitBytes);
    const auto last = static_cast<std::uint32_t>((begin + slot_bytes - 1) / Segment::kUnitBytes);
    if (!segment_->populate(first_unit_ + first, last - first + 1)) return false;
    std::memset(static_cast<std::byte*>(memory()) + begin, 0, slot_bytes);
    return true;
  }

  void publish(std::uint64_t generation) const noexcept {
    host_line(0).generation = generation;
    // Relaxed: the others look after the collective call that tells them the block's place.
    host_line(0).attached.store(plan_->num_participants, std::memory_order_relaxed);
  }
  bool is_of(std::uint64_t generation) const noexcept { return host_line(0).generation == generation; }

  // This member will not touch the block again. Frees it when it was the last one.
  void detach() const noexcept {
    if (host_line(0).attached.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // (B1)
      segment_->units().release(first_unit_, num_units(*plan_));
    }
  }

  // Relaxed: it changes how ranks wait, and no more.
  void tell_crowded() const noexcept { host_line(0).crowded.store(1, std::memory_order_relaxed); }
  bool is_crowded() const noexcept { return host_line(0).crowded.load(std::memory_order_relaxed) != 0; }

  HostLine& host_line(std::uint32_t participant) const noexcept {
    return *static_cast<HostLine*>(lines_.host(plan_->nodes[participant].slot));
  }

  // Whether a participant has entered the episode that `observer` is in.
  bool has_entered(std::uint32_t participant, std::uint32_t observer) const noexcept {
    // Relaxed: a report for people.
    const Epoch wanted = epoch_of_own(observer);
    return reached(epoch_of_own(participant), wanted);
  }

 private:
  Epoch epoch_of_own(std::uint32_t participant) const noexcept {
    return lines_.own(plan_->nodes[participant].slot).epoch.load(std::memory_order_relaxed);
  }

  std::shared_ptr<Segment> segment_;
  const hierbar_plan* plan_;  // outlives the block
  std::uint32_t first_unit_;
  Lines<Word> lines_;
};

}  // namespace hierbar::mpi

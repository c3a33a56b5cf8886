// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier_memory.hpp"
#include "plan/plan.h"

namespace hierbar {

// The memory of Collectives (collectives.hpp): the lines of a barrier, and from the next page on a
// slot of data for each participant. Processes may map it at different addresses, so all positions
// are offsets.
//
//    slot s:  +----------------------+----------------------+
//             | region 0             | region 1             |
//             +----------------------+----------------------+
//
//    region 0, 1  What the participant brings in even and in odd episodes. Writer: the owner.
//                 Readers: all.
template <class Word>
class CollectiveMemory {
 public:
  static constexpr std::size_t kRegionBytes = 4096;  // a page
  static constexpr std::size_t kSlotBytes = 2 * kRegionBytes;

  // A run of bytes in the memory.
  struct Part {
    std::size_t offset;
    std::size_t bytes;
  };

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return offset_of_slots(plan) + plan.num_slots * kSlotBytes;
  }
  static std::array<Part, 2> parts_of(const hierbar_plan& plan, std::uint32_t me) noexcept {
    const std::size_t slot = plan.nodes[me].slot;
    const std::size_t line_slot_bytes = std::size_t{HIERBAR_LINES_PER_SLOT} * plan.line_bytes;
    return {{{slot * line_slot_bytes, line_slot_bytes},
             {offset_of_slots(plan) + slot * kSlotBytes, kSlotBytes}}};
  }

  // `memory` has size_bytes() bytes. Its alignment is that of the barrier's lines.
  CollectiveMemory(const hierbar_plan& plan, void* memory) noexcept
      : nodes_(plan.nodes), slots_(static_cast<std::byte*>(memory) + offset_of_slots(plan)) {}

  std::byte* region(std::uint32_t participant, Epoch epoch) const noexcept {
    return slot_of(participant) + (epoch >> kEpochShift & 1) * kRegionBytes;
  }

 private:
  static std::size_t offset_of_slots(const hierbar_plan& plan) noexcept {
    return (BarrierMemory<Word>::size_bytes(plan) + kRegionBytes - 1) / kRegionBytes * kRegionBytes;
  }
  std::byte* slot_of(std::uint32_t participant) const noexcept {
    return slots_ + nodes_[participant].slot * kSlotBytes;
  }

  const hierbar_plan_node* nodes_;
  std::byte* slots_;
};

}  // namespace hierbar

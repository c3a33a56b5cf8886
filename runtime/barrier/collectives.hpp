// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier.hpp"
#include "barrier/barrier_memory.hpp"
#include "barrier/collective_memory.hpp"
#include "plan/plan.h"

namespace hierbar {

// Episodes that carry data, among the participants of a plan. They have memory of their own, so
// they and the barriers of the same participants may come in any order.
//
//   allreduce   Every participant brings `count` elements and gets the fold of all. Nobody leaves
//               before all have come.
//
// A fold is called as fold(out, inputs, num_inputs, count). It combines inputs[0][i] to
// inputs[num_inputs - 1][i], in this order, for each i below `count`; `out` may be one of them. The
// order of the inputs is that of the participants' numbers, whatever the plan is, so all get the
// same bits, and they get them again under another plan.
//
// Requires: in each episode all participants call the same function with the same count and size of
// an element, and folds that give the same bits. Each participant index is used by one thread at a
// time. Plan and memory outlive the object, which is a view of both.
//
// Guarantees: what Barrier guarantees. `in` may be `out`. Nothing is read or written beyond `count`
// elements.
template <class Mem>
class Collectives {
 public:
  using Word = typename Mem::Word;

  static constexpr std::size_t kMostBytes =
      CollectiveMemory<Word>::kRegionBytes;  // that one participant brings
  static constexpr std::uint32_t kMostParticipants = 512;

  using Part = typename CollectiveMemory<Word>::Part;

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return CollectiveMemory<Word>::size_bytes(plan);
  }
  // What belongs to one participant, which sets it to zero before any of them uses the memory. The
  // first to write to a page is then a participant of the domain that uses the page.
  static std::array<Part, 2> parts_of(const hierbar_plan& plan, std::uint32_t me) noexcept {
    return CollectiveMemory<Word>::parts_of(plan, me);
  }

  // `memory` holds size_bytes(plan) bytes, zero before the first use. It begins at a page where the
  // plan has slots on several NUMA nodes, else at a line. `fencing` is alike in all participants.
  Collectives(const hierbar_plan& plan, void* memory, Fencing fencing) noexcept
      : barrier_(plan, memory, fencing),
        lines_(memory, plan.line_bytes),
        plan_(plan),
        data_(plan, memory) {}

  // Requires count * element_bytes <= kMostBytes and at most kMostParticipants.
  template <class Fold>
  WaitResult allreduce(Mem& mem, std::uint32_t me, const void* in, void* out, std::size_t count,
                       std::size_t element_bytes, const Fold& fold) const noexcept {
    const Epoch next = next_epoch(mem.load_relaxed(lines_.own(plan_.nodes[me].slot).epoch));
    const std::size_t bytes = count * element_bytes;
    std::memcpy(mem.data_to_write(data_.region(me, next), bytes), in, bytes);
    if (barrier_.cross(mem, me, 0).result == WaitResult::kAborted) return WaitResult::kAborted;
    const void* inputs[kMostParticipants];
    for (std::uint32_t i = 0; i < plan_.num_participants; ++i)
      inputs[i] = mem.data_to_read(data_.region(i, next), bytes);
    fold(out, inputs, plan_.num_participants, count);
    return WaitResult::kReleased;
  }

 private:
  Barrier<Mem> barrier_;
  BarrierMemory<Word> lines_;
  const hierbar_plan& plan_;
  CollectiveMemory<Word> data_;
};

}  // namespace hierbar

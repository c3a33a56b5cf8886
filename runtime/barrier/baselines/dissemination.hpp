// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/baselines/blocks.hpp"

namespace hierbar {

// The dissemination barrier, `dissemination`: D. Hensgen, R. Finkel, U. Manber, 1988 (see
// trees.hpp); Mellor-Crummey and Scott, 1991, section 3.3.
//
//   In round k, participant i signals participant (i + 2^k) mod n and waits for participant
//   (i - 2^k) mod n. After ceil(log2 n) rounds it has heard from everybody, directly or not.
//
// There is no release. A peer may be one episode ahead when its flag is read. The original
// therefore uses two sets of flags in turn and reverses their sense in every other episode. With
// epochs one set is enough: a later epoch says no less (docs/design/engine.md#d0012).
//
// Messages: n ceil(log2 n). Depth: ceil(log2 n) line transfers.
template <class Mem>
class DisseminationBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return Blocks<Mem>::size_bytes(plan, num_rounds(plan));
  }

  DisseminationBarrier(const hierbar_plan& plan, void* memory) noexcept
      : blocks_(plan, memory, num_rounds(plan)), num_rounds_(num_rounds(plan)) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    const std::uint32_t count = blocks_.num_participants();
    for (std::uint32_t round = 0; round < num_rounds_; ++round) {
      const std::uint32_t distance = 1U << round;  // less than count
      const std::uint32_t next = me < count - distance ? me + distance : me - (count - distance);
      const std::uint32_t previous = me >= distance ? me - distance : me + (count - distance);
      blocks_.signal(mem, blocks_.flag(next, round).raised[0], epoch, next);
      auto& heard = blocks_.flag(me, round).raised[0];
      if (blocks_.await_signal(mem, me, heard, epoch, previous) == WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    return WaitResult::kReleased;
  }

 private:
  static std::uint32_t num_rounds(const hierbar_plan& plan) noexcept {
    return num_doublings(plan.num_participants);
  }

  Blocks<Mem> blocks_;
  std::uint32_t num_rounds_;
};

}  // namespace hierbar

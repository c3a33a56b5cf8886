// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/baselines/blocks.hpp"

namespace hierbar {

// The central counter with a sense, `sense-reversing`: J. M. Mellor-Crummey, M. L. Scott,
// "Algorithms for scalable synchronization on shared-memory multiprocessors", ACM TOCS 9(1), 1991,
// section 3.1.
//
//   1. Everybody counts itself in one shared counter.
//   2. The last one clears the counter and writes the global sense. The others wait for it.
//
// Messages: n read-modify-writes of one line, one after the other, and n - 1 reads of the sense.
// Depth: n + 1 line transfers, because the counter's line goes from one participant to the next.
template <class Mem>
class SenseReversingBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept { return Blocks<Mem>::size_bytes(plan, kNumFlags); }

  SenseReversingBarrier(const hierbar_plan& plan, void* memory) noexcept : blocks_(plan, memory, kNumFlags) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    auto& sense = blocks_.flag(0, kSense);
    auto& counter = blocks_.counter(0);
    // 1. (C1) pairs with the earlier (C1) of the others.
    const std::uint64_t arrived = mem.fetch_add(counter, 1) + 1;  // (C1)
    if (arrived < blocks_.num_participants()) return blocks_.await_release(mem, me, sense, epoch, kTheLast);
    // 2.
    mem.store_relaxed(counter, 0);  // (C2)
    blocks_.release_all(mem, kTheLast, sense, epoch);
    return WaitResult::kReleased;
  }

 private:
  enum : std::uint32_t { kSense, kNumFlags };
  // The writer that waiters name. Nobody knows beforehand who will write the sense. Nobody ever
  // waits for anything else, so any participant will do.
  static constexpr std::uint32_t kTheLast = 0;

  Blocks<Mem> blocks_;
};

}  // namespace hierbar

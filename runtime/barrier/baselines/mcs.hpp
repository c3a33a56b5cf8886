// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "barrier/baselines/blocks.hpp"

namespace hierbar {
// The tree barrier of J. M. Mellor-Crummey and M. L. Scott, `mcs`: ACM TOCS 9(1), 1991, section
// 3.5, algorithm 11.
//
//   1. Arrival goes up a tree of arity 4. Each child writes its own flag. The flags of a parent's
//      four children are in one line of the parent, which therefore reads them together.
//   2. Wake-up goes down another tree, a binary one. Each child waits for a flag on its own line.
//
// The original has four bytes in one word, and the parent sets them again for the next episode.
// Here they are four words with epochs, which nobody has to set again.
//
// Messages: 2(n - 1), of which those to one parent share a line. Depth: about log4 n line transfers
// up and about log2 n down. Up it may be four times as many, when the children of one parent write
// at the same time and take the line from each other.
// many when the children of one parent write together and take the line from each other, and about
// log2 n down.
template <class Mem>
class McsBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept { return Blocks<Mem>::size_bytes(plan, kNumFlags); }

  McsBarrier(const hierbar_plan& plan, void* memory) noexcept : blocks_(plan, memory, kNumFlags) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    // 1.
    const std::uint32_t num_arriving = num_children(me, kArrivalArity);
    for (std::uint32_t i = 0; i < num_arriving; ++i) {
      auto& arrival = blocks_.flag(me, kArrivals).raised[i];
      if (blocks_.await_signal(mem, me, arrival, epoch, kArrivalArity * me + 1 + i) == WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    if (me == 0) {
      mem.fence();  // (R0)
    } else {
      const std::uint32_t parent = (me - 1) / kArrivalArity;
      blocks_.signal(mem, blocks_.flag(parent, kArrivals).raised[(me - 1) % kArrivalArity], epoch, parent);
      // 2.
      if (blocks_.await_release(mem, me, blocks_.flag(me, kGo), epoch, (me - 1) / kWakeUpArity) == WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    const std::uint32_t first_child = kWakeUpArity * me + 1;
    blocks_.release_each(
        mem, num_children(me, kWakeUpArity), epoch, [&](std::uint32_t i) -> auto& { return blocks_.flag(first_child + i, kGo); },
        [&](std::uint32_t i) { return first_child + i; });
    return WaitResult::kReleased;
  }

 private:
  enum : std::uint32_t { kArrivals, kGo, kNumFlags };
  static constexpr std::uint32_t kArrivalArity = 4;
  static constexpr std::uint32_t kWakeUpArity = 2;
  static_assert(kArrivalArity == Blocks<Mem>::kWordsPerFlag);

  // The number of children of `parent` in a heap of that arity.
  std::uint32_t num_children(std::uint32_t parent, std::uint32_t arity) const noexcept {
    const std::uint64_t first = std::uint64_t{arity} * parent + 1;
    const std::uint64_t count = blocks_.num_participants();
    return first >= count ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(arity, count - first));
  }

  Blocks<Mem> blocks_;
};

}  // namespace hierbar

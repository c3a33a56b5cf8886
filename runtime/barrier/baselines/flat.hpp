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
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return Blocks<Mem>::size_bytes(plan, kNumFlags);
  }

  SenseReversingBarrier(const hierbar_plan& plan, void* memory) noexcept
      : blocks_(plan, memory, kNumFlags) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    auto& sense = blocks_.flag(0, kSense);
    auto& counter = blocks_.counter(0);
    // 1. (C1) pairs with the earlier (C1) of the others.
    const std::uint64_t arrived = mem.fetch_add(counter, 1) + 1;  // (C1)
    if (arrived < blocks_.num_participants())
      return blocks_.await_release(mem, me, sense, epoch, kTheLast);
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

// How the root of a flat tree releases the others.
enum class FlatRelease : std::uint8_t {
  kSense,  // `sense-reversing-counter`: one global sense that all read
  kFlags,  // `sense-reversing-gr`: one flag for each, in a second phase
};

// The flat tree: the two algorithms with which M. G. Kurnosov compares under these names (Vestnik
// SibGUTI 16(2), 2022, section 3).
//
//   1. gather   Everybody but participant 0 increments its own counter. Participant 0 polls all.
//   2. release  Participant 0 writes the global sense, or one flag for each of the others.
//
// Messages: 2(n - 1). Depth: two line transfers. But participant 0 fetches n - 1 lines one after
// the other. Then either n - 1 participants fetch one line in turn, or participant 0 fetches n - 1
// lines back.
template <class Mem, FlatRelease kRelease>
class FlatTreeBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return Blocks<Mem>::size_bytes(plan, kNumFlags);
  }

  FlatTreeBarrier(const hierbar_plan& plan, void* memory) noexcept
      : blocks_(plan, memory, kNumFlags) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    if (me != 0) {
      // 1.
      blocks_.signal(mem, blocks_.flag(me, kArrival).raised[0], epoch, 0);
      // 2.
      return blocks_.await_release(mem, me, blocks_.flag(reads_alone() ? me : 0, kGo), epoch, 0);
    }
    // 1.
    for (std::uint32_t p = 1; p < blocks_.num_participants(); ++p) {
      auto& arrival = blocks_.flag(p, kArrival).raised[0];
      if (blocks_.await_signal(mem, 0, arrival, epoch, p) == WaitResult::kAborted)
        return WaitResult::kAborted;
    }
    // 2. Participant 0 has published nothing else, so it drains its non-temporal stores.
    mem.fence();  // (R0)
    if constexpr (reads_alone()) {
      blocks_.release_each(
          mem, blocks_.num_participants() - 1, epoch,
          [&](std::uint32_t i) -> auto& { return blocks_.flag(i + 1, kGo); },
          [](std::uint32_t i) { return i + 1; });
    } else {
      blocks_.release_all(mem, 0, blocks_.flag(0, kGo), epoch);
    }
    return WaitResult::kReleased;
  }

 private:
  enum : std::uint32_t { kArrival, kGo, kNumFlags };

  static constexpr bool reads_alone() noexcept { return kRelease == FlatRelease::kFlags; }

  Blocks<Mem> blocks_;
};

}  // namespace hierbar

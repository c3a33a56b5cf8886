// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/baselines/blocks.hpp"

namespace hierbar {

// How the root of a flat tree lets the others go.
enum class FlatRelease : std::uint8_t {
  kSense,  // `sense-reversing-counter`: one global sense that all read
  kFlags,  // `sense-reversing-gr`: in a second phase, one flag for each
};

// The flat tree: the two algorithms that M. G. Kurnosov (Vestnik SibGUTI 16(2), 2022, section 3) compares with under these names.
//
//   1. gather   everybody but participant 0 bumps its own counter; participant 0 polls them all.
//   2. release  participant 0 writes the global sense, or one flag for each of the others.
//
// Messages: 2(n - 1). Depth: two line transfers; but one participant takes in n - 1 lines, and then either n - 1 take one line in
// turn or it takes n - 1 lines back.
template <class Mem, FlatRelease kRelease>
class FlatTreeBarrier {
 public:
  static std::size_t size_bytes(const hierbar_plan& plan) noexcept { return Blocks<Mem>::size_bytes(plan, kNumFlags); }

  FlatTreeBarrier(const hierbar_plan& plan, void* memory) noexcept : blocks_(plan, memory, kNumFlags) {}

  [[nodiscard]] WaitResult cross(Mem& mem, std::uint32_t me) const noexcept {
    const Epoch epoch = begin_episode(mem, blocks_.own(me));
    if (me != 0) {
      blocks_.signal(mem, blocks_.flag(me, kArrival).raised[0], epoch, 0);                         // 1.
      return blocks_.await_release(mem, me, blocks_.flag(reads_alone() ? me : 0, kGo), epoch, 0);  // 2.
    }
    // 1.
    for (std::uint32_t p = 1; p < blocks_.num_participants(); ++p) {
      auto& arrival = blocks_.flag(p, kArrival).raised[0];
      if (blocks_.await_signal(mem, 0, arrival, epoch, p) == WaitResult::kAborted) return WaitResult::kAborted;
    }
    // 2.
    mem.fence();  // (R0)
    if constexpr (reads_alone()) {
      blocks_.release_each(
          mem, blocks_.num_participants() - 1, epoch, [&](std::uint32_t i) -> auto& { return blocks_.flag(i + 1, kGo); },
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

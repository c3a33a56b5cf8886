// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/algorithm.hpp"
#include "bench/common/random.hpp"
#include "oracle.hpp"

namespace hierbar::test {

// A baseline only crosses, whatever the script says about bits and phases.
struct BaselineSubject {
  Algorithm algorithm;

  template <class Mem>
  std::size_t size_bytes(const hierbar_plan& plan) const {
    return barrier_size_bytes<Mem>(algorithm, plan);
  }
  // epoch, waiting_for, counter, and all words of every flag for which there is room.
  template <class Mem>
  std::uint32_t words_per_participant(const hierbar_plan& plan) const {
    return 3 + num_flags<Mem>(plan) * (Blocks<Mem>::kWordsPerFlag + 1);
  }
  template <class Mem, class Set>
  void start(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) const {
    const Blocks<Mem> blocks(plan, memory, num_flags<Mem>(plan));
    for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
      // A sleep bit of a waiter that woke by itself.
      const WordValue left_over = start == 0 ? 0 : mix(start + p) & kSleepBit;
      set(blocks.own(p).epoch, start);
      set(blocks.own(p).waiting_for, 0);
      set(blocks.counter(p), 0);
      for (std::uint32_t i = 0; i < num_flags<Mem>(plan); ++i) {
        for (auto& word : blocks.flag(p, i).raised) set(word, start | left_over);
        set(blocks.flag(p, i).asleep, 0);
      }
    }
  }
  template <class Mem>
  WaitResult cross(const hierbar_plan& plan, void* memory, Mem& mem, std::uint32_t me) const {
    return hierbar::cross(algorithm, plan, memory, mem, me);
  }
  template <class Mem, class World>
  auto make_cross(const hierbar_plan& plan, void* memory, const Script&, World&) const {
    return [*this, &plan, memory](Mem& mem, std::uint32_t me, const Script::Crossing&) {
      return cross(plan, memory, mem, me) == WaitResult::kReleased;
    };
  }

 private:
  template <class Mem>
  std::uint32_t num_flags(const hierbar_plan& plan) const {
    const std::size_t num_lines = size_bytes<Mem>(plan) / plan.num_slots / plan.line_bytes;
    return static_cast<std::uint32_t>(num_lines) - 2;
  }
};

}  // namespace hierbar::test

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace hierbar::mpi {

// How the participants of a node replace the plan of their barrier by a new one. Plan number n uses
// memory area n % 2 (TeamLayout).
//
// Requires: all participants run it, between two episodes, when all have arrived in the one before.
// That one orders what they have published about themselves. Participants count plans from 0, the
// first, and `number` is the new plan's.
//
// Guarantees: when a call returns, every participant has taken the plan, and what it has written in
// take_plan() is visible.
//
// Every access goes through Mem, which is TeamMem, or simulated memory in the tests.
//
// Memory ordering.
//   (T1) release store of `published` by participant 0: the plan comes before. Pairs with (T2), the
//        acquire load of everybody else.
//   (T3) seq_cst increment of `cleared`, after the own slot is cleared. Pairs with (T4), an acquire
//        load: who sees the full count sees all slots cleared, and uses the new barrier.
template <class Mem>
class PlanChange {
 public:
  using Word = typename Mem::Word;

  // published: the number of the newest plan; cleared: how many slots were cleared for all plans so
  // far. Both begin at 0.
  PlanChange(Word& published, Word& cleared, std::uint32_t num_participants) noexcept
      : published_(published), cleared_(cleared), num_participants_(num_participants) {}

  // 1. Participant 0 makes the plan and publishes its number.
  // 2. Everybody takes the plan: reads it, and clears its own slot in the plan's area.
  // 3. Everybody waits until all have. wait(word) is called again and again while `word` has not
  //    changed as it must.
  template <class Make, class Take, class Wait>
  void run(const Mem& mem, std::uint32_t me, std::uint64_t number, Make&& make_plan, Take&& take_plan, Wait&& wait) const {
    if (me == 0) {
      make_plan();
      mem.store_release(published_, number);  // (T1)
    }
    while (mem.load_acquire(published_) < number) wait(published_);  // (T2)
    take_plan();
    mem.fetch_add(cleared_, 1);  // (T3)
    const std::uint64_t all = number * num_participants_;
    while (mem.load_acquire(cleared_) < all) wait(cleared_);  // (T4)
  }

 private:
  Word& published_;
  Word& cleared_;
  const std::uint32_t num_participants_;
};

}  // namespace hierbar::mpi

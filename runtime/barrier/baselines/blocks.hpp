// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/lines.hpp"
#include "barrier/pending.hpp"
#include "barrier/word.hpp"
#include "plan/plan.h"

namespace hierbar {

// What the classic algorithms are made of: one block of lines per participant, and the ways in which one participant tells
// others something. Each algorithm says which of its flags mean what.
//
//    block of p:  +------------------------- line_bytes ------------------------+
//                 | epoch | waiting_for |                                         line 0, own: see OwnLine
//                 +-------------------------------------------------------------+
//                 | count |                                                       line 1, counter: of the algorithms that count
//                 +-------------------------------------------------------------+
//                 | raised[0] | raised[1] | raised[2] | raised[3] | asleep |      line 2, flag 0
//                 +-------------------------------------------------------------+
//                 |                            ...                              | flag 1, flag 2, ...; then unused lines
//                 +-------------------------------------------------------------+
//
// A block is a power of two of lines and at least one slot of the plan, so that blocks lie as the plan wants: those of one domain
// together, those of two NUMA nodes on pages of their own. What all share lies in participant 0's block. All zero is a valid
// start.
//
// Flags hold epochs where the literature flips a sense or clears the flag for the next episode: a flag that is never cleared
// needs no second phase and no pairs of flags in turn. Counters are cleared, as they were invented.
//
// Two ways of telling, with the numbers of the ordering map in barrier.hpp:
//   signal    one writer, one known waiter: an exchange (A1), which brings back the waiter's sleep bit.
//   release   one writer, one waiter or many: a plain release store (R1), then one fence (R2) and a look at the sleepers (R3).
//             Stores to several flags overlap. The participant that only releases starts with a fence (R0).
// Both pair with (W1). Every participant's first publication of an episode is therefore a read-modify-write or comes behind a
// fence, so that its non-temporal stores are drained.
//   (C1) seq_cst read-modify-write of a counter: releases what this participant, and through it its subtree, wrote; acquires
//        what those wrote that counted before.
//   (C2) relaxed clearing of a counter by the last to count: the next episode's (C1) come after the release (R1) that follows.
//
// Thread safety and progress are those of Barrier.
template <class Mem>
class Blocks {
 public:
  using Word = typename Mem::Word;

  static constexpr std::uint32_t kWordsPerFlag = 4;

  struct Flag {
    Word raised[kWordsPerFlag];  // [0] unless the algorithm says otherwise. One writer each; waiters set only the sleep bit.
    Word asleep;                 // how many that wait for a release sleep, or are about to; see Release
  };

  static std::size_t size_bytes(const hierbar_plan& plan, std::uint32_t num_flags) noexcept {
    return std::size_t{plan.num_slots} * num_lines(num_flags) * plan.line_bytes;
  }

  // `memory` holds size_bytes(), zero before the first use and aligned to plan.line_bytes.
  Blocks(const hierbar_plan& plan, void* memory, std::uint32_t num_flags) noexcept
      : nodes_(plan.nodes),
        memory_(static_cast<std::byte*>(memory)),
        num_participants_(plan.num_participants),
        line_bytes_(plan.line_bytes),
        num_lines_(num_lines(num_flags)) {
    static_assert(sizeof(Flag) <= 64, "one coherence line");
  }

  std::uint32_t num_participants() const noexcept { return num_participants_; }
  OwnLine<Word>& own(std::uint32_t participant) const noexcept { return at<OwnLine<Word>>(participant, 0); }
  Word& counter(std::uint32_t participant) const noexcept { return at<Word>(participant, 1); }
  Flag& flag(std::uint32_t participant, std::uint32_t index) const noexcept {
    return at<Flag>(participant, kLinesBeforeFlags + index);
  }

  void signal(Mem& mem, Word& flag, Epoch epoch, std::uint32_t waiter) const noexcept {
    if ((mem.exchange(flag, make_word(epoch, 0)) & kSleepBit) != 0) mem.wake(waiter);  // (A1)
  }

  [[nodiscard]] WaitResult await_signal(Mem& mem, std::uint32_t me, Word& flag, Epoch epoch,
                                        std::uint32_t writer) const noexcept {
    auto pending = Pending<Mem>::arrival(mem, flag, epoch, writer, own(me).waiting_for);
    return mem.wait(pending);  // (W1)
  }

  [[nodiscard]] WaitResult await_release(Mem& mem, std::uint32_t me, Flag& flag, Epoch epoch,
                                         std::uint32_t writer) const noexcept {
    auto pending = Pending<Mem>::release(mem, flag.raised[0], epoch, writer, own(me).waiting_for, flag.asleep);
    return mem.wait(pending);  // (W1)
  }

  // Releases everybody who waits for `flag` and says that it waits for `writer`.
  void release_all(Mem& mem, std::uint32_t writer, Flag& flag, Epoch epoch) const noexcept {
    mem.store_release(flag.raised[0], make_word(epoch, 0));  // (R1)
    if (!mem.can_sleep()) return;
    mem.fence();                                     // (R2)
    if (mem.load_acquire(flag.asleep) == 0) return;  // (R3)
    for (std::uint32_t p = 0; p < num_participants_; ++p) {
      if (mem.load_relaxed(own(p).waiting_for) == std::uint64_t{writer} + 1) mem.wake(p);
    }
  }

  // Releases `count` participants, each by a flag of its own: flag_of(i) is what waiter_of(i) waits for. The loads (R3) are
  // relaxed here: nobody's waiting_for is read behind them.
  template <class FlagOf, class WaiterOf>
  void release_each(Mem& mem, std::uint32_t count, Epoch epoch, FlagOf&& flag_of, WaiterOf&& waiter_of) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i) mem.store_release(flag_of(i).raised[0], make_word(epoch, 0));  // (R1)
    if (count == 0 || !mem.can_sleep()) return;
    mem.fence();  // (R2)
    for (std::uint32_t i = 0; i < count; ++i) {
      if (mem.load_relaxed(flag_of(i).asleep) != 0) mem.wake(waiter_of(i));  // (R3)
    }
  }

 private:
  static constexpr std::uint32_t kLinesBeforeFlags = 2;

  static std::uint32_t num_lines(std::uint32_t num_flags) noexcept {
    std::uint32_t lines = HIERBAR_LINES_PER_SLOT;
    while (lines < kLinesBeforeFlags + num_flags) lines *= 2;
    return lines;
  }

  template <class Line>
  Line& at(std::uint32_t participant, std::uint32_t line) const noexcept {
    return *reinterpret_cast<Line*>(memory_ + (std::size_t{nodes_[participant].slot} * num_lines_ + line) * line_bytes_);
  }

  const hierbar_plan_node* nodes_;
  std::byte* memory_;
  std::uint32_t num_participants_;
  std::uint32_t line_bytes_;
  std::uint32_t num_lines_;
};

// How often `count` can be halved, rounded up: the rounds of an algorithm that doubles what a participant knows in each.
constexpr std::uint32_t num_doublings(std::uint32_t count) noexcept {
  std::uint32_t rounds = 0;
  while (rounds < 32 && (std::uint64_t{1} << rounds) < count) ++rounds;
  return rounds;
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier_memory.hpp"
#include "plan/plan.h"

namespace hierbar {

// What the classic algorithms have in common: a block of lines for each participant, and the two
// kinds of message between participants. Each algorithm defines what its flags mean.
//
//    block of p:  +------------------------- line_bytes ------------------------+
//                 | epoch | waiting_for |                                         line 0, own
//                 +-------------------------------------------------------------+
//                 | count |                                                       line 1, counter
//                 +-------------------------------------------------------------+
//                 | raised[0] | raised[1] | raised[2] | raised[3] | asleep |      line 2, flag 0
//                 +-------------------------------------------------------------+
//                 |                            ...                              | flag 1, 2, ...
//                 +-------------------------------------------------------------+
//
// Line 0 is an OwnLine. Line 1 is used by the algorithms that count. After the flags there may be
// unused lines: the number of lines is a power of two, and a block is at least as long as a slot of
// the plan. So blocks lie as the plan wants it: those of one domain together, those of two NUMA
// nodes on different pages. What all participants share is in participant 0's block. All zero is a
// valid start.
//
// Flags hold epochs where the literature reverses a sense, or clears the flag for the next episode.
// A flag that is never cleared needs no second phase, and no pair of flags that are used in turn.
// Counters are cleared as published (docs/design/engine.md#d0012).
//
// The two kinds of message, with the tags of the ordering map in barrier.hpp:
//   signal    One writer, one known waiter. An exchange (A1), which returns the waiter's sleep bit.
//   release   One writer, one or many waiters. A plain store (R1), then one fence (R2) and a load
//             of the number of sleepers (R3). Stores to several flags overlap in time. A
//             participant that has published nothing else in the episode starts with a fence (R0).
// Both pair with (W1). So the first thing that a participant publishes in an episode is a
// read-modify-write or comes after a fence, and its non-temporal stores are drained.
//   (C1) seq_cst read-modify-write of a counter. Pairs with itself. It releases what this
//        participant wrote, and through its waits what its subtree wrote. It acquires what those
//        wrote that counted before.
//   (C2) relaxed store that clears a counter, by the last participant to count. The (C1) of the
//        next episode come after the release (R1) that follows.
//
// Thread safety and progress: as Barrier.
template <class Mem>
class Blocks {
 public:
  using Word = typename Mem::Word;

  static constexpr std::uint32_t kWordsPerFlag = 4;

  struct Flag {
    // raised[0], unless the algorithm says otherwise. Each has one writer; waiters set only the
    // sleep bit.
    Word raised[kWordsPerFlag];
    // How many of those that wait for a release sleep or are about to; see Release.
    Word asleep;
  };

  static std::size_t size_bytes(const hierbar_plan& plan, std::uint32_t num_flags) noexcept {
    return std::size_t{plan.num_slots} * num_lines(num_flags) * plan.line_bytes;
  }

  // `memory` holds size_bytes() bytes, zero before the first use and aligned to plan.line_bytes.
  Blocks(const hierbar_plan& plan, void* memory, std::uint32_t num_flags) noexcept
      : nodes_(plan.nodes),
        memory_(static_cast<std::byte*>(memory)),
        num_participants_(plan.num_participants),
        line_bytes_(plan.line_bytes),
        num_lines_(num_lines(num_flags)) {
    static_assert(sizeof(Flag) <= 64, "one coherence line");
  }

  std::uint32_t num_participants() const noexcept { return num_participants_; }
  OwnLine<Word>& own(std::uint32_t participant) const noexcept {
    return at<OwnLine<Word>>(participant, 0);
  }
  Word& counter(std::uint32_t participant) const noexcept { return at<Word>(participant, 1); }
  Flag& flag(std::uint32_t participant, std::uint32_t index) const noexcept {
    return at<Flag>(participant, kLinesBeforeFlags + index);
  }

  void signal(Mem& mem, Word& flag, Epoch epoch, std::uint32_t waiter) const noexcept {
    // (A1) pairs with (W1), (S2a).
    if ((mem.exchange(flag, make_word(epoch, 0)) & kSleepBit) != 0) mem.wake(waiter);  // (A1)
  }

  [[nodiscard]] WaitResult await_signal(Mem& mem, std::uint32_t me, Word& flag, Epoch epoch,
                                        std::uint32_t writer) const noexcept {
    auto pending = AwaitedWord<Mem>::arrival(mem, flag, epoch, writer, own(me).waiting_for);
    return mem.wait(pending);  // (W1) pairs with (A1)
  }

  [[nodiscard]] WaitResult await_release(Mem& mem, std::uint32_t me, Flag& flag, Epoch epoch,
                                         std::uint32_t writer) const noexcept {
    auto pending = AwaitedWord<Mem>::release(mem, flag.raised[0], epoch, writer,
                                             own(me).waiting_for, flag.asleep);
    return mem.wait(pending);  // (W1) pairs with (R1)
  }

  // Releases all who wait for `flag` and name `writer` as its writer.
  // (R1) pairs with (W1), (R2) with (S3), (R3) with (S2b), so that waiting_for (S1) is seen.
  void release_all(Mem& mem, std::uint32_t writer, Flag& flag, Epoch epoch) const noexcept {
    mem.store_release(flag.raised[0], make_word(epoch, 0));  // (R1)
    if (!mem.can_sleep()) return;
    mem.fence();                                     // (R2)
    if (mem.load_acquire(flag.asleep) == 0) return;  // (R3)
    for (std::uint32_t p = 0; p < num_participants_; ++p) {
      if (mem.load_relaxed(own(p).waiting_for) == std::uint64_t{writer} + 1) mem.wake(p);
    }
  }

  // Releases `count` participants, each by its own flag: flag_of(i) is the flag for which
  // waiter_of(i) waits. (R1) pairs with (W1), (R2) with (S3). (R3) is relaxed here, because no
  // waiting_for is read after it.
  template <class FlagOf, class WaiterOf>
  void release_each(Mem& mem, std::uint32_t count, Epoch epoch, FlagOf&& flag_of,
                    WaiterOf&& waiter_of) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i)
      mem.store_release(flag_of(i).raised[0], make_word(epoch, 0));  // (R1)
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
    return *reinterpret_cast<Line*>(
        memory_ + (std::size_t{nodes_[participant].slot} * num_lines_ + line) * line_bytes_);
  }

  const hierbar_plan_node* nodes_;
  std::byte* memory_;
  std::uint32_t num_participants_;
  std::uint32_t line_bytes_;
  std::uint32_t num_lines_;
};

// How often `count` can be halved, rounded up. That is the number of rounds of an algorithm in
// which each round doubles what a participant knows.
constexpr std::uint32_t num_doublings(std::uint32_t count) noexcept {
  std::uint32_t rounds = 0;
  while (rounds < 32 && (std::uint64_t{1} << rounds) < count) ++rounds;
  return rounds;
}

}  // namespace hierbar

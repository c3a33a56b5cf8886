// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "barrier/word.hpp"

namespace hierbar {

// How a wait ended. Nothing else can happen to a wait.
enum class WaitResult : std::uint8_t { kReleased, kAborted };

// One thing a participant waits for: a word that one other participant will write. The host's wait spins on ready() and,
// if it wants to sleep, says so first:
//
//     while (!pending.ready()) {
//       ...                                  // spin, run tasks, make progress, yield
//       if (pending.announce()) host_sleep();  // until Mem::wake() by the writer, or for any other reason
//       pending.retract();
//     }
//
// announce() returning true promises that the writer will call wake() for this participant after it wrote the word. A host
// whose sleep can miss a wake-up that comes between announce() and the sleep must look at ready() in between, under
// whatever lock its wake() takes.
template <class Mem>
class Pending {
 public:
  using Word = typename Mem::Word;

  // Waits for an arrival: the sleep bit goes into the awaited word itself.
  static Pending arrival(Mem& mem, Word& awaited, Epoch epoch, std::uint32_t writer, Word& waiting_for) noexcept {
    return Pending(mem, awaited, epoch, writer, waiting_for, nullptr);
  }
  // Waits for a release: sleepers are counted beside the word, because a parent releases with plain stores, which overlap.
  static Pending release(Mem& mem, Word& awaited, Epoch epoch, std::uint32_t writer, Word& waiting_for, Word& sleepers) noexcept {
    return Pending(mem, awaited, epoch, writer, waiting_for, &sleepers);
  }

  // (W1) acquire; pairs with (A1), (R1): everything the writer wrote before is visible once this returns true.
  bool ready() noexcept {
    const WordValue seen = mem_.load_acquire(awaited_);  // (W1)
    if (!reached(seen, epoch_)) return false;
    seen_ = seen;
    return true;
  }

  // The payload that came with the word. Kept from the look that found it ready: a second look could cost another line
  // transfer, because the writer may already have taken the line back for the next episode.
  std::uint32_t payload() const noexcept { return payload_of(seen_); }

  // True: not ready, and the writer will wake us. False: it is ready, do not sleep.
  //
  // (S1)  relaxed; published by (S2), which the writer has read before it looks here.
  // (S2a) One read-modify-write decides: either it sees the writer's word, or the writer's exchange (A1), later in the
  //       modification order of the same word, brings the sleep bit back to the writer.
  // (S2b) seq_cst increment, then (S3) a seq_cst load of the word; the writer stores the word (R1), fences (R2), loads the count
  //       (R3). In the single total order one of the two comes first and the other sees it.
  bool announce() noexcept {
    mem_.store_relaxed(waiting_for_, std::uint64_t{writer_} + 1);  // (S1)
    announced_ = true;
    if (sleepers_ == nullptr) return !reached(mem_.fetch_or(awaited_, kSleepBit), epoch_);  // (S2a)
    mem_.fetch_add(*sleepers_, 1);                                                          // (S2b)
    return !reached(mem_.load_seq_cst(awaited_), epoch_);                                   // (S3)
  }

  // Withdraws announce(); does nothing when nothing was announced. A sleep bit may stay behind in the awaited word: it costs
  // the writer one look at waiting_for, an episode or two later.
  // (S4)  relaxed: a writer that still sees either wakes somebody who is awake.
  void retract() noexcept {
    if (!announced_) return;
    announced_ = false;
    mem_.store_relaxed(waiting_for_, 0);                                              // (S4)
    if (sleepers_ != nullptr) mem_.fetch_add_relaxed(*sleepers_, ~std::uint64_t{0});  // (S4)
  }

  Word& awaited() const noexcept { return awaited_; }

 private:
  Pending(Mem& mem, Word& awaited, Epoch epoch, std::uint32_t writer, Word& waiting_for, Word* sleepers) noexcept
      : mem_(mem), awaited_(awaited), waiting_for_(waiting_for), sleepers_(sleepers), epoch_(epoch), writer_(writer) {}

  Mem& mem_;
  Word& awaited_;
  Word& waiting_for_;
  Word* sleepers_;  // null: the sleep bit of the awaited word is used
  Epoch epoch_;
  WordValue seen_ = 0;
  std::uint32_t writer_;
  bool announced_ = false;
};

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace hierbar {

// One flag word. The layout is the same for libomp, MPI and the C API:
//
//     63                                     8 7            2  1        0
//    +----------------------------------------+--------------+----+-------+
//    |                 epoch                  |   payload    | 0  | sleep |
//    +----------------------------------------+--------------+----+-------+
//
// sleep    A waiter sets it when it is about to sleep on the word. The writer's next exchange
//          clears it and returns it. It is bit 0 because libomp keeps its own sleep state there.
// bit 1    Always 0; libomp reserves it.
// payload  A few bits. Every participant of the episode gets the OR of all of them.
// epoch    Counts episodes. It is never reset. Epochs are compared by their difference, so they may
//          wrap around.
using WordValue = std::uint64_t;

inline constexpr WordValue kSleepBit = 1;
inline constexpr int kPayloadShift = 2;
inline constexpr int kPayloadBits = 6;
inline constexpr int kEpochShift = kPayloadShift + kPayloadBits;
inline constexpr WordValue kEpochOne = WordValue{1} << kEpochShift;
inline constexpr WordValue kEpochMask = ~(kEpochOne - 1);
inline constexpr std::uint32_t kPayloadMask = (1U << kPayloadBits) - 1;

static_assert(kEpochShift == 8, "libomp, MPI and the C API share this layout");
static_assert((kSleepBit & kEpochMask) == 0 &&
              (WordValue{kPayloadMask} << kPayloadShift & kEpochMask) == 0);

// An epoch as it is in a word: already shifted, and all other bits are zero.
using Epoch = WordValue;

constexpr Epoch epoch_of(WordValue word) noexcept { return word & kEpochMask; }
constexpr std::uint32_t payload_of(WordValue word) noexcept {
  return static_cast<std::uint32_t>(word >> kPayloadShift) & kPayloadMask;
}
constexpr WordValue make_word(Epoch epoch, std::uint32_t payload) noexcept {
  return epoch | (WordValue{payload & kPayloadMask} << kPayloadShift);
}
constexpr Epoch next_epoch(Epoch epoch) noexcept { return epoch + kEpochOne; }

// Whether `word` has reached `epoch`. Right across a wrap-around as long as the two are less than
// 2^55 episodes apart.
constexpr bool reached(WordValue word, Epoch epoch) noexcept {
  return static_cast<std::int64_t>(epoch_of(word) - epoch) >= 0;
}

// How a wait ended. There is no other result.
enum class WaitResult : std::uint8_t { kReleased, kAborted };

// Who keeps a write and the following look for sleepers in this order (see publish_arrival()). The
// same for all participants of a barrier, as long as it exists.
enum class Fencing : std::uint8_t {
  kByWriters,  // each writer, by a full fence or a read-modify-write
  // Each sleeper, by a fence in the threads of all participants (Mem::heavy_fence()). For barriers
  // in which sleeps are rare: such a fence interrupts all running threads.
  kBySleepers,
};

// A host, or a Mem, whose sleepers share one place if all of them await one word.
template <class HostOrMem, class = void>
inline constexpr bool kWakesTogether = false;
template <class HostOrMem>
inline constexpr bool
    kWakesTogether<HostOrMem, std::void_t<decltype(std::declval<HostOrMem&>().wake_all())>> = true;

// One wait of a participant: for a word that one other participant will write. The host's wait
// polls ready(). If it wants to sleep, it announces that first:
//
//     while (!pending.ready()) {
//       ...                                    // poll, run tasks, make progress, yield
//       if (pending.announce()) host_sleep();  // until Mem::wake() by the writer, or for no reason
//     }
//     pending.retract();
//
// An announcement may last for several sleeps, and the fence (S5) is then needed once. Or each
// sleep has its own announcement.
//
// Requires: one thread uses an object, and a call of retract() follows the last call of announce().
// If the host's sleep can miss a wake-up that comes between announce() and the sleep, the host
// calls ready() in between, under whatever lock its wake() takes.
//
// Guarantees: after announce() has returned true, the writer calls wake() for this participant once
// it has written the word. The orders are described at each function; the writer's accesses are
// described at publish_arrival(), (A1) to (A4), and in barrier.hpp, (R1) to (R4).
template <class Mem>
class AwaitedWord {
 public:
  using Word = typename Mem::Word;

  // A wait for an arrival. The sleep bit goes into the awaited word itself.
  static AwaitedWord arrival(Mem& mem, Word& awaited, Epoch epoch, std::uint32_t writer,
                             Word& waiting_for) noexcept {
    return AwaitedWord(mem, awaited, epoch, writer, waiting_for, nullptr);
  }
  // The same if sleepers fence. They are counted in the writer's line, as in a wait for a release.
  static AwaitedWord counted_arrival(Mem& mem, Word& awaited, Epoch epoch, std::uint32_t writer,
                                     Word& waiting_for, Word& sleepers) noexcept {
    return release(mem, awaited, epoch, writer, waiting_for, sleepers, Fencing::kBySleepers);
  }
  // A wait for a release. Sleepers are counted beside the word: a parent releases by plain stores,
  // because these overlap in time, and a store returns no sleep bit.
  static AwaitedWord release(Mem& mem, Word& awaited, Epoch epoch, std::uint32_t writer,
                             Word& waiting_for, Word& sleepers,
                             Fencing fencing = Fencing::kByWriters) noexcept {
    AwaitedWord pending(mem, awaited, epoch, writer, waiting_for, &sleepers);
    pending.fencing_ = fencing;
    return pending;
  }
  // A wait for a release that all others await as well. A host may let all of them sleep in one
  // place, and end all of these sleeps at once. crew_waits: the waiter's whole crew has arrived.
  static AwaitedWord release_of_all(Mem& mem, Word& awaited, Epoch epoch, std::uint32_t writer,
                                    Word& waiting_for, Word& sleepers, bool crew_waits) noexcept {
    AwaitedWord pending(mem, awaited, epoch, writer, waiting_for, &sleepers);
    pending.all_wait_ = true;
    pending.crew_waits_ = crew_waits;
    return pending;
  }

  // (W1) acquire; pairs with the exchange (A1) or the stores (A2) and (R1). Once it has returned
  // true, everything that the writer wrote before is visible.
  bool ready() noexcept {
    const WordValue seen = mem_.load_acquire(awaited_);  // (W1) pairs with (A1), (A2), (R1)
    if (!reached(seen, epoch_)) return false;
    seen_ = seen;
    return true;
  }

  // The payload that came with the word. It is kept from the poll that found the word ready. A
  // second load could cost another line transfer, because the writer may already have taken the
  // line back for the next episode (docs/design/engine.md#d0004).
  std::uint32_t payload() const noexcept { return payload_of(seen_); }
  // Takes over the word that a copy of this wait has found ready.
  void take_seen_of(const AwaitedWord& copy) noexcept { seen_ = copy.seen_; }

  // Announces a sleep. True: the word is not ready, and the writer will wake this participant.
  // False: it must not sleep, because the word is ready, or because the system refuses the fence.
  // A further call before the next sleep only reads the word, because the first announcement is
  // still in effect.
  //
  // (S1)  Relaxed store; published by (S2a) or (S2b). The writer reads waiting_for only after it
  //       has seen one of these, by (A1) or (R3), or behind (A3).
  // (S2a) Read-modify-write of the awaited word; pairs with (A1). One of the two comes first in the
  //       modification order of the word. If (A1) does, (S2a) returns the writer's word. Otherwise
  //       (A1) returns the sleep bit to the writer.
  // (S2b) seq_cst increment, followed by (S3), a seq_cst load of the awaited word. The writer
  //       stores the word, (R1) or (A2), fences, and loads the count, (R3) or (A4). (S2b) also
  //       pairs with (R3): it publishes (S1).
  //       kByWriters: the writer's fence is (R2). In the single total order one of two things
  //       holds. Either (S2b) comes before (R2), and (R3) sees the count. Or (R2) comes before
  //       (S3), and (S3) sees the word.
  // (S5)  Heavy fence between (S2b) and (S3), if sleepers fence. Pairs with the light fences (A3)
  //       and (R4), which only keep the compiler from changing the order. Each other participant
  //       passes a full fence F between two of its instructions. F comes after (S2b), and before
  //       (S3). If the writer's load comes after F, it sees the count. Otherwise its store, which
  //       stands before the load, comes before F, and (S3) sees the word. This is the argument of
  //       (R2), with F in its place, and it needs nothing of the processor's own orders: it holds
  //       on AArch64, where a store and a later load change places as they do on x86.
  //       In a further call (S3) pairs with the wake-up that came before the host noted its sleep
  //       by a seq_cst store, as (P1) of parking.hpp is. Between its word and that wake-up the
  //       writer has (A1), (R2) or (R5). So (S3) sees the word.
  bool announce() noexcept {
    if (!announced_) {
      announced_ = true;
      mem_.store_relaxed(waiting_for_, std::uint64_t{writer_} + 1);  // (S1)
      // (S2a) pairs with (A1); (S2b) pairs with (R3).
      if (sleepers_ == nullptr)
        return !reached(mem_.fetch_or(awaited_, kSleepBit), epoch_);  // (S2a)
      mem_.fetch_add(*sleepers_, 1);                                  // (S2b)
    }
    if (fencing_ == Fencing::kBySleepers && !fenced_) {
      if (!mem_.heavy_fence()) return false;  // (S5)
      fenced_ = true;
    }
    // (S3) pairs with (R1), (R2), (R5) and (A2).
    return !reached(mem_.load_seq_cst(awaited_), epoch_);  // (S3)
  }

  // Withdraws announce(); does nothing if nothing was announced. A sleep bit may stay behind in the
  // awaited word. It costs the writer one load of waiting_for, one or two episodes later.
  // (S4)  Relaxed: a writer that still sees one of the two wakes a participant that is awake.
  void retract() noexcept {
    if (!announced_) return;
    announced_ = fenced_ = false;
    mem_.store_relaxed(waiting_for_, 0);                                              // (S4)
    if (sleepers_ != nullptr) mem_.fetch_add_relaxed(*sleepers_, ~std::uint64_t{0});  // (S4)
  }

  Word& awaited() const noexcept { return awaited_; }
  // Whether this is a wait by release_of_all().
  bool all_wait() const noexcept { return all_wait_; }
  // Whether all who share this participant's core have arrived, so that nobody needs its cpu before
  // the release. False if that is not known.
  bool crew_waits() const noexcept { return crew_waits_; }

 private:
  AwaitedWord(Mem& mem, Word& awaited, Epoch epoch, std::uint32_t writer, Word& waiting_for,
              Word* sleepers) noexcept
      : mem_(mem),
        awaited_(awaited),
        waiting_for_(waiting_for),
        sleepers_(sleepers),
        epoch_(epoch),
        writer_(writer) {}

  Mem& mem_;
  Word& awaited_;
  Word& waiting_for_;
  Word* sleepers_;  // null: the sleep bit of the awaited word is used
  Epoch epoch_;
  WordValue seen_ = 0;
  std::uint32_t writer_;
  Fencing fencing_ = Fencing::kByWriters;
  bool announced_ = false;
  bool fenced_ = false;  // since it was announced
  bool all_wait_ = false;
  bool crew_waits_ = false;
};

// How a participant publishes its arrival, and learns whether somebody sleeps for it. It writes the
// word first, and looks for sleepers second. A sleeper does the reverse: it announces itself first,
// and looks at the word second. So one of the two sees the other, if no processor lets the look
// overtake the write before it. Fencing says who sees to that.
//
//   kByWriters   The write is an exchange. Sleepers set a bit in the word, which it returns.
//   kBySleepers  The write is a release store, which returns nothing. Sleepers are counted in a
//                word of their own, on a line that the writer alone reads and that nobody writes
//                while nobody sleeps. The look at it costs nothing. On one line with the arrivals
//                it would fetch that line once more.
//
// Ordering map.
//   (A1) exchange, seq_cst: the arrival, kByWriters. Pairs with (W1) and (W2), which acquire what
//        it releases: all that this participant wrote before, and through its own (W1) what its
//        subtree wrote. Pairs with (S2a), which it acquires: the writer that finds the sleep bit
//        also sees waiting_for (S1). It is an exchange and not a store for two reasons. On x86 it
//        drains non-temporal stores, which a plain store may overtake. And it returns the sleep
//        bit.
//   (A2) release store: the arrival, kBySleepers. Pairs with (W1) and (W2), as (A1) does.
//        Mem::publish() orders non-temporal stores before it.
//   (A3) light fence between (A2) and (A4). Pairs with (S5); see AwaitedWord::announce().
//   (A4) relaxed load of the number of sleepers. It need not acquire (S2b) for waiting_for (S1) to
//        be seen: if the sleeper goes to sleep, both come before the fence that (A3) stands for.

// Publishes `value` in `word`. Returns whether somebody may sleep for it; the caller then wakes
// those whose waiting_for says so. `sleepers` is used with kBySleepers only.
template <class Mem>
[[gnu::always_inline]] inline bool publish_arrival(Mem& mem, typename Mem::Word& word,
                                                   WordValue value, typename Mem::Word& sleepers,
                                                   Fencing fencing) noexcept {
  if (fencing == Fencing::kByWriters) {
    return (mem.exchange(word, value) & kSleepBit) != 0;  // (A1) pairs with (W1), (W2), (S2a)
  }
  mem.publish(word, value);                // (A2) pairs with (W1), (W2)
  mem.light_fence();                       // (A3) pairs with (S5)
  return mem.load_relaxed(sleepers) != 0;  // (A4)
}

// The wait for such an arrival of `writer`. `sleepers` as there.
template <class Mem>
AwaitedWord<Mem> awaited_arrival(Mem& mem, typename Mem::Word& word, Epoch epoch,
                                 std::uint32_t writer, typename Mem::Word& waiting_for,
                                 typename Mem::Word& sleepers, Fencing fencing) noexcept {
  if (fencing == Fencing::kByWriters)
    return AwaitedWord<Mem>::arrival(mem, word, epoch, writer, waiting_for);
  return AwaitedWord<Mem>::counted_arrival(mem, word, epoch, writer, waiting_for, sleepers);
}

}  // namespace hierbar

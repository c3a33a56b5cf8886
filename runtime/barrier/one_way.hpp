// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier_memory.hpp"
#include "barrier/collective_memory.hpp"
#include "barrier/plan_view.hpp"
#include "plan/plan.h"

namespace hierbar {

// The slots in which a participant brings data, used in turn. The word of each operation is in a
// small one, in the line of the first data. Large data have a slot of their own beside that.
template <class Word, std::uint32_t kNumSmall, std::uint32_t kNumLarge>
struct OneWayRing {
  struct alignas(64) SmallSlot {
    static constexpr std::size_t kMostBytes = 112;
    Word word;
    std::uint64_t bytes;  // of the data, wherever they are
    alignas(16) std::byte data[kMostBytes];
  };
  struct alignas(64) LargeSlot {
    static constexpr std::size_t kMostBytes = 4096;
    std::byte data[kMostBytes];
  };
  static constexpr std::uint32_t kSmallSlots = kNumSmall;
  static constexpr std::uint32_t kLargeSlots = kNumLarge;

  // All participants have done this operation and all before. Used by the owner only.
  Word known;
  // Writer: the owner. Readers: those whom the operation gives the data.
  SmallSlot small[kSmallSlots];
  LargeSlot large[kLargeSlots];
};

// Operations in which data go one way, among the participants of a plan. They have memory of their
// own, so they, barriers and other collectives of the same participants may come in any order.
//
//   bcast    All get what the root has.
//   reduce   The root gets the fold of all (Collectives says what a fold is).
//   gather   The root gets what all bring, one behind the other in the order of the participants'
//            numbers.
//   scatter  Each gets its part of what the root has. The parts are equal in size, and lie in the
//            order of the numbers.
//
// Nobody waits for those who only read what it brings. It may be a ring of slots ahead of them.
//
//   1. The operations have numbers, the same in all participants. In operation s the slots s modulo
//      the sizes of their rings are used.
//   2. Who brings data first waits until all have done the operation that used a slot before: s
//      less the size of the ring. It remembers which one all have done, and looks again only when
//      that is too long ago.
//   3. It writes the data and their number of bytes, then the word. Readers wait for the word.
//   4. Each stores the number s when it has done its part, that is, behind its last read.
//
// No deadlock: in operation s one waits only for data of s, and for the end of operations before s.
//
// Requires: all participants call the same function with the same root, in the same order; in a
// reduce also with the same number of bytes, and folds that give the same bits. Each participant
// index is used by one thread at a time. Plan and memory outlive the object, which is a view of
// both.
//
// Guarantees: what the ones who bring data wrote before is visible to those who get them. All
// functions are noexcept and never allocate. Every wait is Mem::wait.
//
// Words in the barrier's lines: OwnLine counts the operations. The group line's release has the
// number of step 4, and counts who sleeps for any word of this participant.
//
// Ordering map, beside the one in barrier.hpp:
//   (O1) release store of an operation's word, behind the data. Pairs with (W1).
//   (O2) release store of what is done, behind the last read of a slot. Pairs with (O3) and (W1).
//   (O3) acquire load of what another one has done, before the slot that it read is overwritten.
//   (O4) relaxed accesses to `known`: no other participant uses it.
//   (R2) or (R4), (R3) and (R5) behind (O1) and (O2), as behind a release.
template <class Mem, std::uint32_t kSmallSlots = 32, std::uint32_t kLargeSlots = 4>
class OneWay : private PlanView<Mem> {
  static_assert((kSmallSlots & (kSmallSlots - 1)) == 0 && (kLargeSlots & (kLargeSlots - 1)) == 0,
                "numbers wrap around");
  using View = PlanView<Mem>;
  using View::fence_before_look, View::group_release, View::own, View::wake_if_waiting_for;
  using View::fencing_, View::nodes_, View::num_participants_;

 public:
  using Word = typename Mem::Word;
  using Ring = OneWayRing<Word, kSmallSlots, kLargeSlots>;
  using Part = MemoryPart;

  static constexpr std::size_t kMostBytes = Ring::LargeSlot::kMostBytes;  // that one brings
  static constexpr std::size_t kSlotBytes = whole_pages(sizeof(Ring));    // of one participant
  static constexpr std::uint32_t kMostParticipants = kMostFoldInputs;

  static std::size_t size_bytes(const hierbar_plan& plan) noexcept {
    return offset_of_slots<Word>(plan) + plan.num_slots * kSlotBytes;
  }
  // What belongs to one participant, which sets it to zero before any of them uses the memory.
  static std::array<Part, 2> parts_of(const hierbar_plan& plan, std::uint32_t me) noexcept {
    return parts_of_participant<Word>(plan, me, kSlotBytes);
  }

  // `memory` holds size_bytes(plan) bytes, zero before the first use, as for Collectives.
  OneWay(const hierbar_plan& plan, void* memory, Fencing fencing) noexcept
      : View(plan, memory, fencing),
        rings_(static_cast<std::byte*>(memory) + offset_of_slots<Word>(plan)) {}

  struct Moved {
    WaitResult result;
    std::size_t bytes;  // that came, for which the caller may have had more or less room
  };
  // Requires bytes <= kMostBytes. `data` is read in the root and written in all others: as many
  // bytes as both the root and the caller have. Returns how many bytes the root brought.
  Moved bcast(Mem& mem, std::uint32_t me, std::uint32_t root, void* data,
              std::size_t bytes) const noexcept {
    const Epoch epoch = begin_episode(mem, own(me));
    Moved moved{WaitResult::kReleased, bytes};
    if (me == root) {
      moved.result = bring(mem, me, epoch, data, bytes);
    } else {
      moved = take(mem, me, root, epoch, Slice{0, 1}, static_cast<std::byte*>(data), bytes);
    }
    if (moved.result == WaitResult::kReleased) finish(mem, me, epoch);
    return moved;
  }

  // Requires bytes <= kMostBytes: of one participant. `out` is used in the root only, where `in`
  // may be the own place in it. Of what another one brings, the root takes as many bytes as both
  // have. Returns how many it brought: in the root, of the last one with another number than the
  // root's, else `bytes`.
  Moved gather(Mem& mem, std::uint32_t me, std::uint32_t root, const void* in, void* out,
               std::size_t bytes) const noexcept {
    const Epoch epoch = begin_episode(mem, own(me));
    const Moved moved = me == root ? take_all(mem, me, epoch, static_cast<const std::byte*>(in),
                                              static_cast<std::byte*>(out), bytes)
                                   : Moved{bring(mem, me, epoch, in, bytes), bytes};
    if (moved.result == WaitResult::kReleased) finish(mem, me, epoch);
    return moved;
  }

  // Requires bytes * number of participants <= kMostBytes: `bytes` of one participant. `in` is used
  // in the root only, where `out` may be the own place in it, or null: the own part stays there.
  // Others get as many bytes as both the root and the caller have for them. Returns how many the
  // root brought for the caller.
  Moved scatter(Mem& mem, std::uint32_t me, std::uint32_t root, const void* in, void* out,
                std::size_t bytes) const noexcept {
    const Epoch epoch = begin_episode(mem, own(me));
    auto* const part = static_cast<std::byte*>(out);
    Moved moved{WaitResult::kReleased, bytes};
    if (me == root) {
      moved.result = bring(mem, me, epoch, in, bytes * num_participants_);
      if (part != nullptr) copy_own(part, static_cast<const std::byte*>(in) + me * bytes, bytes);
    } else {
      moved = take(mem, me, root, epoch, Slice{me, num_participants_}, part, bytes);
    }
    if (moved.result == WaitResult::kReleased) finish(mem, me, epoch);
    return moved;
  }

  // Requires count * element_bytes <= kMostBytes and at most kMostParticipants. `out` is used in
  // the root only, and may be `in`.
  template <class Fold>
  WaitResult reduce(Mem& mem, std::uint32_t me, std::uint32_t root, const void* in, void* out,
                    std::size_t count, std::size_t element_bytes, const Fold& fold) const noexcept {
    const Epoch epoch = begin_episode(mem, own(me));
    const std::size_t bytes = count * element_bytes;
    const auto fold_all = [&](const void** inputs) {
      for (std::uint32_t i = 0; i < num_participants_; ++i) {
        inputs[i] = in;
        if (i == me) continue;
        if (await_data(mem, me, i, epoch) == WaitResult::kAborted) return WaitResult::kAborted;
        inputs[i] = mem.data_to_read(slot_for(i, epoch, bytes), bytes);
      }
      fold(out, inputs, num_participants_, count);
      return WaitResult::kReleased;
    };
    const WaitResult result = me == root ? with_fold_inputs(num_participants_, fold_all)
                                         : bring(mem, me, epoch, in, bytes);
    if (result == WaitResult::kReleased) finish(mem, me, epoch);
    return result;
  }

  // Of one participant. For tests.
  Ring& ring(std::uint32_t participant) const noexcept {
    return *reinterpret_cast<Ring*>(rings_ + nodes_[participant].slot * kSlotBytes);
  }

 private:
  static bool is_small(std::size_t bytes) noexcept { return bytes <= Ring::SmallSlot::kMostBytes; }

  // The slots of an operation.
  typename Ring::SmallSlot& small_slot(std::uint32_t participant, Epoch epoch) const noexcept {
    return ring(participant).small[(epoch >> kEpochShift) % kSmallSlots];
  }
  std::byte* slot_for(std::uint32_t participant, Epoch epoch, std::size_t bytes) const noexcept {
    if (is_small(bytes)) return small_slot(participant, epoch).data;
    return ring(participant).large[(epoch >> kEpochShift) % kLargeSlots].data;
  }

  // Steps 2 and 3 of who brings data.
  WaitResult bring(Mem& mem, std::uint32_t me, Epoch epoch, const void* data,
                   std::size_t bytes) const noexcept {
    const std::uint64_t room = is_small(bytes) ? kSmallSlots : kLargeSlots;
    if (await_room(mem, me, epoch - room * kEpochOne) == WaitResult::kAborted)
      return WaitResult::kAborted;
    mem.fence_streams();
    typename Ring::SmallSlot& slot = small_slot(me, epoch);
    copy_bytes(mem.data_to_write(slot_for(me, epoch, bytes), bytes),
               static_cast<const std::byte*>(data), bytes);
    slot.bytes = bytes;
    mem.store_release(slot.word, make_word(epoch, 0));  // (O1) pairs with (W1)
    return WaitResult::kReleased;
  }

  // Step 2. Until all have done operation `done`.
  WaitResult await_room(Mem& mem, std::uint32_t me, Epoch done) const noexcept {
    Word& known = ring(me).known;
    if (reached(mem.load_relaxed(known), done)) return WaitResult::kReleased;  // (O4)
    Epoch least = mem.load_relaxed(own(me).epoch);                             // (E1)
    for (std::uint32_t i = 0; i < num_participants_; ++i) {
      if (i == me) continue;
      Release<Word>& theirs = group_release(i);
      Epoch seen = epoch_of(mem.load_acquire(theirs.released));  // (O3) pairs with (O2)
      if (!reached(seen, done)) {
        auto pending = AwaitedWord<Mem>::release(mem, theirs.released, done, i, own(me).waiting_for,
                                                 theirs.asleep, fencing_);
        if (mem.wait(pending) == WaitResult::kAborted) return WaitResult::kAborted;
        seen = done;
      }
      if (reached(least, seen)) least = seen;
    }
    mem.store_relaxed(known, least);  // (O4)
    return WaitResult::kReleased;
  }

  // Step 3 of a reader.
  WaitResult await_data(Mem& mem, std::uint32_t me, std::uint32_t writer,
                        Epoch epoch) const noexcept {
    auto pending =
        AwaitedWord<Mem>::release(mem, small_slot(writer, epoch).word, epoch, writer,
                                  own(me).waiting_for, group_release(writer).asleep, fencing_);
    return mem.wait(pending);
  }

  // One of several equal parts of what a writer brings.
  struct Slice {
    std::uint32_t index;
    std::uint32_t num_slices;
  };

  // Step 3 of a reader, with the copy: as many bytes as the slice has, or there is room for.
  Moved take(Mem& mem, std::uint32_t me, std::uint32_t writer, Epoch epoch, const Slice& slice,
             std::byte* out, std::size_t room) const noexcept {
    if (await_data(mem, me, writer, epoch) == WaitResult::kAborted)
      return {WaitResult::kAborted, 0};
    const auto all = static_cast<std::size_t>(small_slot(writer, epoch).bytes);
    const std::size_t bytes = all / slice.num_slices, common = std::min(bytes, room);
    const std::byte* const theirs = slot_for(writer, epoch, all) + slice.index * bytes;
    copy_bytes(out, mem.data_to_read(theirs, common), common);
    return {WaitResult::kReleased, bytes};
  }

  // The root's part of a gather.
  Moved take_all(Mem& mem, std::uint32_t me, Epoch epoch, const std::byte* in, std::byte* out,
                 std::size_t bytes) const noexcept {
    Moved all{WaitResult::kReleased, bytes};
    for (std::uint32_t i = 0; i < num_participants_; ++i, out += bytes) {
      if (i == me) {
        copy_own(out, in, bytes);
        continue;
      }
      const Moved part = take(mem, me, i, epoch, Slice{0, 1}, out, bytes);
      if (part.result == WaitResult::kAborted) return part;
      if (part.bytes != bytes) all.bytes = part.bytes;
    }
    return all;
  }
  static void copy_own(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (to != from) copy_bytes(to, from, bytes);
  }

  // Step 4, and the look for those who sleep for (O1) or (O2).
  void finish(Mem& mem, std::uint32_t me, Epoch epoch) const noexcept {
    Release<Word>& mine = group_release(me);
    mem.store_release(mine.released, make_word(epoch, 0));  // (O2) pairs with (O3), (W1)
    if (!mem.can_sleep()) return;
    fence_before_look(mem);
    if (mem.load_acquire(mine.asleep) != 0) wake_sleepers(mem, me);  // (R3) pairs with (S2b)
  }

  [[gnu::cold, gnu::noinline]] void wake_sleepers(Mem& mem, std::uint32_t me) const noexcept {
    for (std::uint32_t i = 0; i < num_participants_; ++i) wake_if_waiting_for(mem, i, me);
  }

  std::byte* rings_;
};

}  // namespace hierbar

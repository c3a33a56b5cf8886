// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier_memory.hpp"
#include "barrier/plan_view.hpp"

namespace hierbar {

// The path of Barrier::cross() for plans with crews: participants outnumber cpus, and all are
// leaders. The participants of a core, a crew, count themselves. The last one of a crew counts the
// crew. The last one of all releases everybody. The scheduler runs them one after the other, and
// beside that the work of each costs next to nothing: no line moves inside a crew, and nobody reads
// the arrivals of all others (docs/design/engine.md#d0009). The last of a crew polls for a moment
// before it yields, because none of those who would get the cpu can go on
// (docs/design/waiting.md#d0145).
//
// Requires and guarantees what Barrier does. Ordering map, beside the one in barrier.hpp:
//   (C1) relaxed fetch_or, before (C2), which publishes it: whoever counts last also sees the bits
//        (C3).
//   (C2) fetch_add, seq_cst: the count. Pairs with itself. All counts of a tally are one release
//        sequence, so the last one acquires what all others wrote before theirs. Drains
//        non-temporal stores, as (A1) does.
//   (C3) relaxed accesses of the participant that counted last. The others use the tally again only
//        after (R1).
//   (R1) to (R3) as there.

// Counts the caller. Returns whether all `size` have now been counted; `bits` is then the OR of
// all of theirs. (C2) pairs with the earlier (C2) of the same tally.
template <class Mem>
bool count_arrival(Mem& mem, Tally<typename Mem::Word>& tally, std::uint32_t size,
                   std::uint32_t& bits) noexcept {
  if (bits != 0) mem.fetch_or_relaxed(tally.bits, bits);            // (C1)
  if (mem.fetch_add(tally.arrived, 1) + 1 != size) return false;    // (C2)
  bits = static_cast<std::uint32_t>(mem.load_relaxed(tally.bits));  // (C3)
  mem.store_relaxed(tally.arrived, 0);                              // (C3)
  if (bits != 0) mem.store_relaxed(tally.bits, 0);                  // (C3)
  return true;
}

// Where the host's sleepers have one place in common, one call ends all of their sleeps.
// (R2) pairs with (S3), (R3) with (S2b).
template <class Mem>
void wake_all_sleepers(const PlanView<Mem>& view, Mem& mem,
                       const Release<typename Mem::Word>& line) noexcept {
  mem.fence();                                     // (R2)
  if (mem.load_acquire(line.asleep) == 0) return;  // (R3)
  if constexpr (kWakesTogether<Mem>) {
    mem.wake_all();
  } else {
    for (std::uint32_t i = 0; i < view.num_participants_; ++i) view.wake_if_waiting_for(mem, i, 0);
  }
}

// Steps 2 to 4 of a plan with crews. Everybody waits for the release of participant 0, which
// nobody else would write. The last one to arrive writes it in participant 0's name.
template <class Mem, class Trace>
[[gnu::noinline]] Crossing cross_oversubscribed(const PlanView<Mem>& view, Mem& mem,
                                                std::uint32_t me, std::uint32_t bits,
                                                const Trace& trace) noexcept {
  using Word = typename Mem::Word;
  const hierbar_plan_node& node = view.nodes_[me];
  OwnLine<Word>& own = view.own(me);
  Release<Word>& line = view.edge_release(0);
  const Epoch epoch = begin_episode(mem, own);
  const bool crew_waits =
      count_arrival(mem, view.lines_.group(view.nodes_[node.crew].slot).crew, node.crew_size, bits);
  if (crew_waits &&
      count_arrival(mem, view.lines_.group(view.nodes_[0].slot).everybody, view.num_crews_, bits)) {
    trace.released();
    trace.all_arrived();
    mem.store_release(line.released, make_word(epoch, bits));  // (R1) pairs with (W1)
    if (mem.can_sleep()) wake_all_sleepers(view, mem, line);
    return {WaitResult::kReleased, bits};
  }
  auto pending = AwaitedWord<Mem>::release_of_all(mem, line.released, epoch, /*writer=*/0,
                                                  own.waiting_for, line.asleep, crew_waits);
  if (view.await_others(mem, pending, trace) == WaitResult::kAborted)
    return {WaitResult::kAborted, 0};
  trace.released();
  return {WaitResult::kReleased, pending.payload()};
}

}  // namespace hierbar

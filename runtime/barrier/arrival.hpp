// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/word.hpp"

namespace hierbar {

// How a participant publishes its arrival, and learns whether somebody sleeps for it. It writes the
// word first, and looks for sleepers second. A sleeper does the reverse: it announces itself first,
// and looks at the word second. So one of the two sees the other, if no processor lets the look
// overtake the write before it. Fencing says who sees to that.
//
//   kByWriters   The write is an exchange. Sleepers set a bit in the word, which it returns.
//   kBySleepers  The write is a plain store. Sleepers are counted in a word of their own, on a line
//                that the writer alone reads and that nobody writes while nobody sleeps. The look at
//                it costs nothing. On one line with the arrivals it would fetch that line once more.
//
// Ordering map.
//   (A1) exchange, seq_cst: the arrival, kByWriters. Pairs with (W1) and (W2), which acquire what it
//        releases: all that this participant wrote before, and through its own (W1) what its subtree
//        wrote. Pairs with (S2a), which it acquires: the writer that finds the sleep bit also sees
//        waiting_for (S1). It is an exchange and not a store for two reasons. On x86 it drains
//        non-temporal stores, which a plain store may overtake. And it returns the sleep bit.
//   (A2) release store: the arrival, kBySleepers. Pairs with (W1) and (W2), as (A1) does. Non-temporal
//        stores are ordered by fence_streams() before it.
//   (A3) light fence between (A2) and (A4). Pairs with (S5); see AwaitedWord::announce().
//   (A4) relaxed load of the number of sleepers. It need not acquire (S2b) for waiting_for (S1) to be
//        seen: if the sleeper goes to sleep, both come before the fence that (A3) stands for.

// Publishes `value` in `word`. Returns whether somebody may sleep for it; the caller then wakes those
// whose waiting_for says so. `sleepers` is used with kBySleepers only.
template <class Mem>
[[gnu::always_inline]] inline bool publish_arrival(Mem& mem, typename Mem::Word& word, WordValue value,
                                                   typename Mem::Word& sleepers, Fencing fencing) noexcept {
  if (fencing == Fencing::kByWriters) {
    return (mem.exchange(word, value) & kSleepBit) != 0;  // (A1) pairs with (W1), (W2), (S2a)
  }
  mem.fence_streams();
  mem.store_release(word, value);          // (A2) pairs with (W1), (W2)
  mem.light_fence();                       // (A3) pairs with (S5)
  return mem.load_relaxed(sleepers) != 0;  // (A4)
}

// The wait for such an arrival of `writer`. `sleepers` as there.
template <class Mem>
AwaitedWord<Mem> awaited_arrival(Mem& mem, typename Mem::Word& word, Epoch epoch, std::uint32_t writer,
                                 typename Mem::Word& waiting_for, typename Mem::Word& sleepers, Fencing fencing) noexcept {
  if (fencing == Fencing::kByWriters) return AwaitedWord<Mem>::arrival(mem, word, epoch, writer, waiting_for);
  return AwaitedWord<Mem>::counted_arrival(mem, word, epoch, writer, waiting_for, sleepers);
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "barrier/futex.hpp"

namespace hierbar {

// How a participant sleeps on a futex word of its own, not 0 while it does; shared by the hosts that have no runtime to sleep
// in. The futex is not of the private kind: the sleepers may be in other processes.
//
// Ordering. Beside what Pending says of its own words:
//   (P1) seq_cst store, before the looks of announce() and stays_awake(). Pairs with (P3).
//   (P2) relaxed: only the owner sets the word, and a wake-up that is lost here comes when it is awake.
//   (P3) seq_cst exchange, after what the sleeper looks at was written. Either it finds (P1), or the sleeper's look, which comes
//        after (P1), finds what was written.

// Before anybody sleeps, looks with a sched_yield() in between: some ms, since participants arrive together or much later.
inline constexpr int kYieldsBeforeSleep = 4000;
// Where participants outnumber the cpus, some 20 ms, several of the scheduler's slices: one that it owes time goes on running,
// however often it yields, until it has had that time. Who sleeps meanwhile stays owed. With 200, MPI ranks whose set-up had
// taken unequal time never got even: 120 µs a barrier, of four ranks on two cpus, in place of 3.
inline constexpr int kYieldsWhenOutnumbered = 40'000;

// Sleeps until unpark(), for limit_ns at most, unless the awaited word has been written or `stays_awake()` by then.
// `parked` is set before announce() and cleared by unpark(), and the futex sleeps only while it is set: a wake-up that comes
// between announce() and the sleep is not lost.
template <class Pending, class StaysAwake>
void park(std::atomic<std::uint32_t>& parked, Pending& pending, long limit_ns, StaysAwake&& stays_awake) noexcept {
  parked.store(1, std::memory_order_seq_cst);  // (P1)
  if (pending.announce() && !stays_awake()) {
    const timespec limit{limit_ns / 1'000'000'000, limit_ns % 1'000'000'000};
    futex(parked, FUTEX_WAIT, 1, &limit);
  }
  pending.retract();
  parked.store(0, std::memory_order_relaxed);  // (P2)
}

inline void unpark(std::atomic<std::uint32_t>& parked) noexcept {
  if (parked.exchange(0, std::memory_order_seq_cst) != 0) futex(parked, FUTEX_WAKE, 1, nullptr);  // (P3)
}

}  // namespace hierbar

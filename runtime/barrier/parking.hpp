// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "base/futex.hpp"

namespace hierbar {

// How a participant sleeps, for hosts without a runtime of their own. Each participant has a
// futex word of its own, which is not 0 while its owner sleeps or is about to. The futex is not of
// the private kind, because the sleepers may be in other processes.
//
// Ordering. Besides the orders that AwaitedWord has for its own words:
//   (P1) seq_cst store, before announce() and stays_awake() read what the sleeper waits for. Pairs
//        with (P3).
//   (P2) relaxed store. Only the owner sets the word, and a wake-up that is lost here finds the
//        owner awake.
//   (P3) seq_cst exchange, after the waker has written what the sleeper waits for. Pairs with (P1).
//        Either (P3) sees (P1), and the waker wakes the sleeper. Or the reads behind (P1) see what
//        the waker wrote, and the sleeper stays awake. The writes are (A1) and (R1) of barrier.hpp
//        and (X1) of thread_host.hpp. The reads are (S2a) and (S3) of awaited_word.hpp and (X3) of
//        thread_host.hpp.

// Participants that all await one word may sleep on one futex word, which counts the wake-ups of
// all. One system call then ends all of their sleeps.
//   (P4) relaxed load, before announce().
//   (P5) relaxed increment, after (R3) has seen that somebody sleeps. If (P4) came before it, the
//        kernel finds another count than the sleeper gave it, or the sleeper is in its queue and is
//        woken. If (P4) sees (P5), then (S2b), which follows (P4), comes after (R3), so (S3) sees
//        the awaited word, and the sleeper stays awake.

// For FUTEX_WAKE: as many as there are.
inline constexpr std::uint32_t kWakeAll = 0x7fffffff;

// Sleeps until unpark(), for limit_ns at most. Returns at once if the awaited word has been written
// or `stays_awake()` returns true.
//
//   1. Set `parked`. unpark() clears it.
//   2. Announce the sleep. If there is still something to wait for, sleep while `parked` is set. A
//      wake-up that comes between the announcement and the sleep is not lost: it has cleared
//      `parked`.
//
// The announcement stays in effect for the next sleep of the same wait. The caller withdraws it at
// the end of the wait.
template <class AwaitedWord, class StaysAwake>
void park_announced(std::atomic<std::uint32_t>& parked, AwaitedWord& pending, long limit_ns,
                    StaysAwake&& stays_awake) noexcept {
  parked.store(1, std::memory_order_seq_cst);  // (P1) pairs with (P3)
  if (pending.announce() && !stays_awake()) {
    const timespec limit{limit_ns / 1'000'000'000, limit_ns % 1'000'000'000};
    futex(parked, FUTEX_WAIT, 1, &limit);
  }
  parked.store(0, std::memory_order_relaxed);  // (P2)
}

// The same with an announcement for this sleep alone.
template <class AwaitedWord, class StaysAwake>
void park(std::atomic<std::uint32_t>& parked, AwaitedWord& pending, long limit_ns,
          StaysAwake&& stays_awake) noexcept {
  park_announced(parked, pending, limit_ns, stays_awake);
  pending.retract();
}

// Ends the sleep of the owner of `parked`, if it sleeps or is about to.
inline void unpark(std::atomic<std::uint32_t>& parked) noexcept {
  if (parked.exchange(0, std::memory_order_seq_cst) == 0) return;  // (P3) pairs with (P1)
  futex(parked, FUTEX_WAKE, 1, nullptr);
}

// As park(), on a word that the sleepers share. unpark_all() ends the sleep.
template <class AwaitedWord>
void park_together(std::atomic<std::uint32_t>& num_wakings, AwaitedWord& pending,
                   long limit_ns) noexcept {
  const std::uint32_t seen = num_wakings.load(std::memory_order_relaxed);  // (P4) pairs with (P5)
  if (pending.announce()) {
    const timespec limit{limit_ns / 1'000'000'000, limit_ns % 1'000'000'000};
    futex(num_wakings, FUTEX_WAIT, seen, &limit);
  }
  pending.retract();
}

// Ends the sleeps of all that sleep there or are about to.
inline void unpark_all(std::atomic<std::uint32_t>& num_wakings) noexcept {
  num_wakings.fetch_add(1, std::memory_order_relaxed);  // (P5) pairs with (P4)
  futex(num_wakings, FUTEX_WAKE, kWakeAll, nullptr);
}

}  // namespace hierbar

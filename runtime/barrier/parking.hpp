// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace hierbar {

// How a participant sleeps on a futex word of its own, not 0 while it does; shared by the hosts that have no runtime to sleep
// in. The futex is not of the private kind: the sleepers may be in other processes.

inline void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

// Sleeps until unpark(), for limit_ns at most, unless the awaited word has been written or `stays_awake()` by then.
// `parked` is set before announce() and cleared by unpark(), and the futex sleeps only while it is set: a wake-up that comes
// between announce() and the sleep is not lost.
template <class Pending, class StaysAwake>
void park(std::atomic<std::uint32_t>& parked, Pending& pending, long limit_ns, StaysAwake&& stays_awake) noexcept {
  parked.store(1, std::memory_order_seq_cst);
  if (pending.announce() && !stays_awake()) {
    const timespec limit{limit_ns / 1'000'000'000, limit_ns % 1'000'000'000};
    futex(parked, FUTEX_WAIT, 1, &limit);
  }
  pending.retract();
  parked.store(0, std::memory_order_relaxed);
}

inline void unpark(std::atomic<std::uint32_t>& parked) noexcept {
  if (parked.exchange(0, std::memory_order_seq_cst) != 0) futex(parked, FUTEX_WAKE, 1, nullptr);
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "verifier.hpp"

// Replaces runtime/base/futex.hpp: a model of the kernel's futex without time limits. A time
// limit would end every lost wake-up; without one the checker finds them.
namespace hierbar {
namespace model {

// Decides whether a sleep ends at once, as by a signal or a time limit. The sleeper may read 0 or
// 1, and the checker explores both, because another thread sets it without any order. Null: no
// sleep of this thread ends at once.
using Coin = std::atomic<std::uint32_t>;
inline thread_local Coin* next_coin = nullptr;

inline bool ends_at_once() noexcept {
  return next_coin != nullptr && (next_coin++)->load(std::memory_order_relaxed) != 0;
}

#if defined(MODEL_KERNEL_QUEUE)
// As the kernel does it (kernel/futex/waitwake.c), for one word and one sleeper:
//
//   1. The sleeper counts itself.
//   2. After a full fence it reads the word under the lock of the word's bucket, and queues itself
//      in the same critical section.
//   3. The waker writes the word before the call. After a full fence it reads the count.
//
// The two fences pair: either the waker sees the count, or the sleeper sees the word.
inline Mutex bucket_lock;
inline std::atomic<std::uint32_t> num_waiters{0};
inline std::atomic<std::uint32_t> is_queued{0};

inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  num_waiters.fetch_add(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  bucket_lock.lock();
  const bool sleeps = word.load(std::memory_order_relaxed) == value;
  if (sleeps) is_queued.store(1, std::memory_order_relaxed);
  bucket_lock.unlock();
  if (sleeps && !ends_at_once()) {
    wait_until([] { return is_queued.load(std::memory_order_relaxed) == 0; });
  }
  num_waiters.fetch_sub(1, std::memory_order_relaxed);
}

inline void futex_wake(std::atomic<std::uint32_t>&) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (num_waiters.load(std::memory_order_relaxed) == 0) return;
  bucket_lock.lock();
  is_queued.store(0, std::memory_order_relaxed);
  bucket_lock.unlock();
}
#else
// The effect of that, where every change of the word is followed by a FUTEX_WAKE: a thread sleeps
// as long as the word has the value. There are far fewer executions.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  if (!ends_at_once()) wait_until([&] { return word.load(std::memory_order_relaxed) != value; });
}

inline void futex_wake(std::atomic<std::uint32_t>&) noexcept {}
#endif

}  // namespace model

inline constexpr int FUTEX_WAIT = 0;
inline constexpr int FUTEX_WAKE = 1;

inline void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
                  const timespec*) noexcept {
  operation == FUTEX_WAIT ? model::futex_wait(word, value) : model::futex_wake(word);
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/parking.hpp"
#include "case.hpp"
#include "verifier.hpp"

namespace hierbar::model {

// The futex words of the participants.
alignas(128) inline std::atomic<std::uint32_t> parked[kNumParticipants];

// Where the heavy fences of one participant and the light fences of another meet, by these two.
//
// While a heavy fence lasts, each other thread passes a full fence between two of its instructions.
// This point is before or behind each light fence of that thread. Before: what stands behind the
// light fence happens after the beginning of the heavy one. Behind: what stands before the light
// fence happens before the end of the heavy one. That is what two read-modify-writes (acq_rel) of
// one word do to each other. Each pair has a word of its own, so the light fences of two threads
// order nothing between them, and neither do two heavy fences.
inline std::atomic<std::uint32_t> meeting[kNumParticipants][kNumParticipants];

// The Mem on which barriers are checked: the orders of RealMem, and waits that the checker can
// follow. A wait spins. The participants of kSleepers first sleep by the real park(), or by
// park_announced(), at most kNaps times, and then spin. Whoever is woken, for whatever reason,
// polls again.
//
// Every operation also takes its order as a template argument. The sources never name one; mutants
// do (mutants.py).
class ModelMem {
 public:
  using Word = std::atomic<std::uint64_t>;

  explicit ModelMem(std::uint32_t me) noexcept : me_(me) {}

  template <std::memory_order kOrder = std::memory_order_relaxed>
  std::uint64_t load_relaxed(const Word& word) const noexcept {
    return word.load(kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_acquire>
  std::uint64_t load_acquire(const Word& word) const noexcept {
    return word.load(kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_seq_cst>
  std::uint64_t load_seq_cst(const Word& word) const noexcept {
    return word.load(kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_relaxed>
  void store_relaxed(Word& word, std::uint64_t value) const noexcept {
    word.store(value, kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_release>
  void store_release(Word& word, std::uint64_t value) const noexcept {
    word.store(value, kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_release>
  void publish(Word& word, std::uint64_t value) const noexcept {
    word.store(value, kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_seq_cst>
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return word.exchange(value, kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_seq_cst>
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept {
    return word.fetch_or(bits, kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_seq_cst>
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return word.fetch_add(value, kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_relaxed>
  std::uint64_t fetch_or_relaxed(Word& word, std::uint64_t bits) const noexcept {
    return word.fetch_or(bits, kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_relaxed>
  std::uint64_t fetch_add_relaxed(Word& word, std::uint64_t value) const noexcept {
    return word.fetch_add(value, kOrder);
  }
  template <std::memory_order kOrder = std::memory_order_seq_cst>
  void fence() const noexcept {
    if constexpr (kOrder != std::memory_order_relaxed) std::atomic_thread_fence(kOrder);
  }

  template <std::memory_order kOrder = std::memory_order_acq_rel>
  void light_fence() const noexcept {
    if constexpr (kOrder == std::memory_order_relaxed) return;
    for (std::uint32_t sleeper = 0; sleeper < kNumParticipants; ++sleeper) {
      if (sleeper != me_ && (kSleepers >> sleeper & 1) != 0)
        meeting[sleeper][me_].fetch_add(1, kOrder);
    }
  }
  template <std::memory_order kOrder = std::memory_order_acq_rel>
  bool heavy_fence() const noexcept {
    if constexpr (kOrder == std::memory_order_relaxed) return true;
    for (std::uint32_t other = 0; other < kNumParticipants; ++other) {
      if (other != me_) meeting[me_][other].fetch_add(1, kOrder);
    }
    return true;
  }
  void fence_streams() const noexcept {}  // no memory model knows non-temporal stores

  static const std::byte* data_to_read(const std::byte* data, std::size_t) noexcept { return data; }
  static std::byte* data_to_write(std::byte* data, std::size_t) noexcept { return data; }

  WaitResult wait(AwaitedWord<ModelMem>& pending) const noexcept {
    const bool is_ready = (kSleepers >> me_ & 1) != 0 && sleep(pending);
    if (!is_ready) wait_until([&] { return pending.ready(); });
    pending.retract();
    return WaitResult::kReleased;
  }
  void wake(std::uint32_t participant) const noexcept { unpark(parked[participant]); }
  bool can_sleep() const noexcept { return kSleepers != 0; }

 private:
  // Returns whether it has found the word ready. After the last sleep it does not look.
  bool sleep(AwaitedWord<ModelMem>& pending) const noexcept {
    const auto stays_awake = [] { return false; };
    for (int nap = 0; nap < kNaps; ++nap) {
      if (kStaysAnnounced) {
        park_announced(parked[me_], pending, /*limit_ns=*/0, stays_awake);
      } else {
        park(parked[me_], pending, /*limit_ns=*/0, stays_awake);
      }
      if (nap + 1 < kNaps && pending.ready()) return true;
    }
    return false;
  }

  std::uint32_t me_;
};

}  // namespace hierbar::model

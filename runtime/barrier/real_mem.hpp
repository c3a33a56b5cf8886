// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "barrier/awaited_word.hpp"
#include "base/arch/memory.hpp"
#include "base/arch/pause.hpp"
#include "base/arch/publish.hpp"

#if defined(__SANITIZE_THREAD__)
#define HIERBAR_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HIERBAR_THREAD_SANITIZER 1
#endif
#endif

namespace hierbar {

// Mem over std::atomic, with a host that knows how to wait; see Barrier for what Mem must do. Host
// offers
//   int spin_polls(bool crew_waits)            how often to poll the word before wait() is called;
//                                              crew_waits: AwaitedWord::crew_waits()
//   int pauses_per_poll()                      pauses between two polls: measure_pauses_per_poll()
//   WaitResult wait(AwaitedWord<RealMem<Host>>&)   the long wait; kReleased only if pending.ready()
//   void wake(std::uint32_t participant)       ends that participant's sleep, if it sleeps
//   bool can_sleep()                           false: nobody ever sleeps
//   bool heavy_fence()                         a fence in the threads of all participants, see
//                                              base/membarrier.hpp; false: refused. Called if
//                                              sleepers fence (Fencing)
//   void wake_all()                            optional: ends the sleep of all that all_wait()
// One RealMem belongs to one thread for one episode; it may lie on the stack.
template <class Host>
class RealMem {
 public:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free && sizeof(Word) == 8, "shared between processes");

  explicit RealMem(Host& host) noexcept : host_(host) {}

  std::uint64_t load_relaxed(const Word& word) const noexcept {
    return word.load(std::memory_order_relaxed);
  }
  std::uint64_t load_acquire(const Word& word) const noexcept {
    return word.load(std::memory_order_acquire);
  }
  std::uint64_t load_seq_cst(const Word& word) const noexcept {
    return word.load(std::memory_order_seq_cst);
  }
  void store_relaxed(Word& word, std::uint64_t value) const noexcept {
    word.store(value, std::memory_order_relaxed);
  }
  void store_release(Word& word, std::uint64_t value) const noexcept {
    word.store(value, std::memory_order_release);
  }
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return word.exchange(value, std::memory_order_seq_cst);
  }
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept {
    return word.fetch_or(bits, std::memory_order_seq_cst);
  }
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return word.fetch_add(value, std::memory_order_seq_cst);
  }
  std::uint64_t fetch_or_relaxed(Word& word, std::uint64_t bits) const noexcept {
    return word.fetch_or(bits, std::memory_order_relaxed);
  }
  std::uint64_t fetch_add_relaxed(Word& word, std::uint64_t value) const noexcept {
    return word.fetch_add(value, std::memory_order_relaxed);
  }
  void fence() const noexcept {
#if defined(HIERBAR_THREAD_SANITIZER)
    static Word fence_word;  // ThreadSanitizer has no model of fences
    fence_word.fetch_add(0, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }

  // The other side of heavy_fence(): only the compiler must keep the order. ThreadSanitizer needs
  // no more. It takes happens-before from the words, and runs them on the machine's own memory.
  void light_fence() const noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  bool heavy_fence() const noexcept { return host_.heavy_fence(); }
  void fence_streams() const noexcept { fence_non_temporal_stores(); }
  void publish(Word& word, std::uint64_t value) const noexcept { hierbar::publish(word, value); }

  static const std::byte* data_to_read(const std::byte* data, std::size_t) noexcept { return data; }
  static std::byte* data_to_write(std::byte* data, std::size_t) noexcept { return data; }

  WaitResult wait(AwaitedWord<RealMem>& pending) const noexcept {
    if (pending.ready()) return WaitResult::kReleased;
    const int pauses = host_.pauses_per_poll();
    for (int polls = host_.spin_polls(pending.crew_waits()); polls > 0; --polls) {
      for (int i = 0; i < pauses; ++i) cpu_pause();
      if (pending.ready()) return WaitResult::kReleased;
    }
    // The host gets a copy. Nobody else then has the address of `pending`, so the compiler keeps it
    // in registers for the polls above (docs/design/waiting.md#d0158).
    AwaitedWord<RealMem> for_host = pending;
    const WaitResult result = host_.wait(for_host);
    pending.take_seen_of(for_host);
    return result;
  }
  void wake(std::uint32_t participant) const noexcept { host_.wake(participant); }
  template <class AnyHost = Host, class = std::enable_if_t<kWakesTogether<AnyHost>>>
  void wake_all() const noexcept {
    host_.wake_all();
  }
  bool can_sleep() const noexcept { return host_.can_sleep(); }

 private:
  Host& host_;
};

}  // namespace hierbar

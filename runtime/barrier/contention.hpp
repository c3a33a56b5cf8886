// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.hpp"

namespace hierbar {

// What a process knows about others that want its cpus: other teams, threads and processes that
// compute, or that poll without ever yielding. Its waits report their long yields and ask whether
// they should sleep early (docs/design/waiting.md#d0021).
//
// If all waiting participants yield, a yield takes microseconds, and sleeping costs more. If
// another thread on the same cpu does not yield, a yield takes a slice of the scheduler, some
// milliseconds: since Linux 6.6 a thread that yields gives up the rest of its own slice. A thread
// that is released in the meantime waits for the end of that slice. A thread that sleeps is woken
// and runs almost at once.
//
// How it decides:
// 1. The time that a long yield takes is lost. Lost time is added up, and forgotten eight times as
//    slowly as it was lost. So a short disturbance (a daemon, a command) changes nothing.
// 2. When the sum exceeds what is tolerated, waits sleep early for a while.
// 3. Each long yield prolongs that period, until enough of the lost time is forgotten.
//
// Thread safety: any thread may call any function. All accesses are relaxed, because the values are
// hints and publish nothing. Where threads lose the same time on one cpu, or write at the same
// time, some of them are not counted.
class Contention {
 public:
  // The shortest yield that counts. Longer than a yield among participants that only wait (1000
  // threads on 2 cpus), shorter than a slice (1.4 ms on 2 cpus, 2.8 ms on 8 and more).
  static constexpr std::int64_t kLong_ns = 1'000'000;
  // How much may be lost at once before waits sleep early: some slices.
  static constexpr std::int64_t kTolerated_ns = 8'000'000;
  // A lost ns is forgotten after this many ns. So an eighth of the time may be lost for ever.
  static constexpr std::int64_t kForgetting = 8;
  // How long waits sleep early after that: libomp's default blocktime.
  static constexpr std::int64_t kRemembered_ns = 200'000'000;

  // The clock of all times in this class.
  static std::int64_t monotonic_now() noexcept { return monotonic_ns(); }

  // Whether a wait that begins now should sleep early. Costs one load as long as the limit has
  // never been exceeded.
  bool is_remembered() const noexcept {
    const std::int64_t until_ns = until_ns_.load(std::memory_order_relaxed);
    return __builtin_expect(until_ns != 0, 0) && monotonic_now() < until_ns;
  }

  std::uint64_t num_long_yields() const noexcept {
    return num_long_yields_.load(std::memory_order_relaxed);
  }
  // How many of them made waits sleep.
  std::uint64_t num_times() const noexcept { return num_times_.load(std::memory_order_relaxed); }

  // Reports a yield that took from `start_ns` to `end_ns`. Returns whether waits should sleep now.
  bool add_long_yield(std::int64_t start_ns, std::int64_t end_ns) noexcept {
    num_long_yields_.fetch_add(1, std::memory_order_relaxed);
    // Time that several threads lost together counts once.
    const std::int64_t lost_ns =
        end_ns - std::max(start_ns, last_end_ns_.load(std::memory_order_relaxed));
    last_end_ns_.store(end_ns, std::memory_order_relaxed);
    const std::int64_t most_ns = end_ns + kTolerated_ns * kForgetting + kRemembered_ns;
    const std::int64_t before_ns =
        std::max(forgotten_at_ns_.load(std::memory_order_relaxed), end_ns);
    const std::int64_t forgotten_at_ns =
        std::min(before_ns + std::max<std::int64_t>(lost_ns, 0) * kForgetting, most_ns);
    forgotten_at_ns_.store(forgotten_at_ns, std::memory_order_relaxed);
    if (forgotten_at_ns - end_ns <= kTolerated_ns * kForgetting) return false;
    until_ns_.store(end_ns + kRemembered_ns, std::memory_order_relaxed);
    num_times_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  // When waits stop sleeping early; 0: they never started. Read by all waits, written after long
  // yields only.
  std::atomic<std::int64_t> until_ns_{0};
  std::atomic<std::int64_t> forgotten_at_ns_{0};
  std::atomic<std::int64_t> last_end_ns_{0};
  std::atomic<std::uint64_t> num_long_yields_{0};
  std::atomic<std::uint64_t> num_times_{0};
};

}  // namespace hierbar

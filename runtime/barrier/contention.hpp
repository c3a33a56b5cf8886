// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace hierbar {

// What a process knows of others who want its cpus: other teams, threads and processes that
// compute, or that poll without ever yielding. Its waits report their long yields and ask whether
// they had better sleep.
//
// Among participants that all yield while they wait, a yield takes microseconds and sleeping costs
// more. It takes a slice of the scheduler, some milliseconds, when somebody on the same cpu does
// not yield: on Linux 6.6 and later a yield gives up the rest of the own slice. Whoever is released
// meanwhile goes on only after that, while a sleeper is woken and runs almost at once.
//
// What decides:
// 1. The time that long yields take is lost. It is added up, and forgotten eight times as slowly as
//    it was lost, so that what passes by (daemons, a command) changes nothing.
// 2. When more is lost than tolerated, waits shall sleep for a while.
// 3. Each long yield prolongs that while until enough of the lost time is forgotten.
//
// Thread safety: all functions may be called by any thread. The accesses are relaxed: hints, which
// publish nothing. Of threads that lose the same time on one cpu, or write at the same time, some
// are not counted.
class Contention {
 public:
  // Longer than a yield among participants that only wait (1000 threads on 2 cpus), shorter than a
  // slice (1.4 ms on 2 cpus, 2.8 ms on 8 and more).
  static constexpr std::int64_t kLong_ns = 1'000'000;
  // What may be lost at once without waits that sleep: some slices.
  static constexpr std::int64_t kTolerated_ns = 8'000'000;
  // How many ns later a ns that was lost is forgotten: an eighth of the time may be lost for ever.
  static constexpr std::int64_t kForgetting = 8;
  // How long waits sleep after that: libomp's default blocktime.
  static constexpr std::int64_t kRemembered_ns = 200'000'000;

  // The clock of all times here.
  static std::int64_t monotonic_now() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  }

  // Whether waits that begin now shall sleep early. Costs one load while too much was never lost.
  bool is_remembered() const noexcept {
    const std::int64_t until_ns = until_ns_.load(std::memory_order_relaxed);
    return __builtin_expect(until_ns != 0, 0) && monotonic_now() < until_ns;
  }

  std::uint64_t num_long_yields() const noexcept { return num_long_yields_.load(std::memory_order_relaxed); }
  // Of these, those that made waits sleep.
  std::uint64_t num_times() const noexcept { return num_times_.load(std::memory_order_relaxed); }

  // A yield that took from `start_ns` to `end_ns`. Returns whether waits shall sleep now.
  bool add_long_yield(std::int64_t start_ns, std::int64_t end_ns) noexcept {
    num_long_yields_.fetch_add(1, std::memory_order_relaxed);
    // Time that several threads lost together is lost once.
    const std::int64_t lost_ns = end_ns - std::max(start_ns, last_end_ns_.load(std::memory_order_relaxed));
    last_end_ns_.store(end_ns, std::memory_order_relaxed);
    const std::int64_t most_ns = end_ns + kTolerated_ns * kForgetting + kRemembered_ns;
    const std::int64_t before_ns = std::max(forgotten_at_ns_.load(std::memory_order_relaxed), end_ns);
    const std::int64_t forgotten_at_ns = std::min(before_ns + std::max<std::int64_t>(lost_ns, 0) * kForgetting, most_ns);
    forgotten_at_ns_.store(forgotten_at_ns, std::memory_order_relaxed);
    if (forgotten_at_ns - end_ns <= kTolerated_ns * kForgetting) return false;
    until_ns_.store(end_ns + kRemembered_ns, std::memory_order_relaxed);
    num_times_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  std::atomic<std::int64_t> until_ns_{0};  // 0: never. Read by all waits, written after long yields only
  std::atomic<std::int64_t> forgotten_at_ns_{0};
  std::atomic<std::int64_t> last_end_ns_{0};
  std::atomic<std::uint64_t> num_long_yields_{0};
  std::atomic<std::uint64_t> num_times_{0};
};

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "base/arch/vendor.hpp"
#include "base/clock.hpp"

namespace hierbar {

// Tells the processor that this is a polling loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // "yield" does nothing on most cores; isb takes about as long as a pause on x86.
  asm volatile("isb" ::: "memory");
#elif defined(__riscv)
  asm volatile(".insn i 0x0f, 0, x0, x0, 0x010" ::: "memory");  // "pause", which old ones pass over
#elif defined(__powerpc64__)
  asm volatile("or 1, 1, 1\n\tor 2, 2, 2" ::: "memory");  // the other threads of the core go first
#elif defined(__arm__)
  asm volatile("yield" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

// The longest time between two polls of a word. A poll that finds the line gone fetches it, and so
// takes it away from the peer that is about to write it. Polls that come faster than a line can
// travel therefore slow the peer down; polls that come too rarely see the arrival late. The best of
// both is about one line transfer: 55 to 60 ns between cores of Intel's servers, half of that on
// AMD's (docs/design/waiting.md#d0158). Numbers of polls are reckoned with the shorter one.
inline constexpr long kPollSpacing_ns = 45;
inline constexpr long kIntelPollSpacing_ns = 60;

// The length of one cpu_pause(). Takes about 10 µs.
inline double measure_pause_ns() noexcept {
  constexpr int kPauses = 64;
  std::int64_t best_ns = 0;
  for (int round = 0; round < 3; ++round) {
    const std::int64_t start_ns = monotonic_ns();
    for (int i = 0; i < kPauses; ++i) cpu_pause();
    const std::int64_t ns = monotonic_ns() - start_ns;
    if (round == 0 || ns < best_ns) best_ns = ns;
  }
  return static_cast<double>(best_ns) / kPauses;
}

// The longest time between two polls on this processor.
inline long poll_spacing_ns() noexcept {
  return cpu_vendor() == CpuVendor::kIntel ? kIntelPollSpacing_ns : kPollSpacing_ns;
}

// How many pauses of that length (10 to 150 cycles, by processor) fit between two polls: 1 to 16.
inline int pauses_per_poll(double pause_ns, long spacing_ns) noexcept {
  const int pauses =
      pause_ns > 0 ? static_cast<int>(static_cast<double>(spacing_ns) / pause_ns) : 1;
  return pauses < 1 ? 1 : pauses > 16 ? 16 : pauses;
}

// The same for this processor. It measures, so it should be called once.
inline int measure_pauses_per_poll() noexcept {
  return pauses_per_poll(measure_pause_ns(), poll_spacing_ns());
}

}  // namespace hierbar

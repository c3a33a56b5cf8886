// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ctime>

namespace hierbar {

// Tells the processor that this is a spin loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // "yield" is a no-op on most cores; isb waits about as long as an x86 pause
#else
  asm volatile("" ::: "memory");
#endif
}

// Longest time between two looks at a word. Each look that finds the line gone brings it back, away from the peer that is about
// to write it, so looking more often than a line can travel slows the peer down. Exchange of two threads inside libomp, no pause
// and 1 2 3 4 5 6 8 pauses between looks: on a Xeon (one way 60 ns, pause 13 ns) 194, 128 124 102 98 104 114 124 ns; on an EPYC
// (one way 27 ns, pause 26 ns) 88, 74 75 79 92 107 122 143 ns, and one barrier alone 79, 70 94 107 126 142 148 181 ns. 45 lies
// well away from a multiple of either's pause, so that the number does not change from one start to the next.
inline constexpr long kLookSpacing_ns = 45;

// Takes about 10 µs.
inline double measure_pause_ns() noexcept {
  constexpr int kPauses = 64;
  long best_ns = 0;
  for (int round = 0; round < 3; ++round) {
    timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < kPauses; ++i) cpu_pause();
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long ns = (end.tv_sec - start.tv_sec) * 1'000'000'000L + end.tv_nsec - start.tv_nsec;
    if (round == 0 || ns < best_ns) best_ns = ns;
  }
  return static_cast<double>(best_ns) / kPauses;
}

// How many pauses of that length, 10 to 150 cycles, are between two looks.
inline int pauses_per_look(double pause_ns) noexcept {
  const int pauses = pause_ns > 0 ? static_cast<int>(static_cast<double>(kLookSpacing_ns) / pause_ns) : 1;
  return pauses < 1 ? 1 : pauses > 16 ? 16 : pauses;
}

// The same for this processor; call it once.
inline int measure_pauses_per_look() noexcept { return pauses_per_look(measure_pause_ns()); }

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>

// Cache lines and the order of memory, as far as processors differ. Needs no C++ library, because
// libomp includes it.

namespace hierbar {

// How far apart words are that different cpus write: the one figure of a plan that depends on the
// machine where its tree does not. For lines of `line_bytes`; 0 or less: not known. A power of two,
// and at least 128: x86 fetches the neighbour of a 64-byte line with it. A64FX and s390 have lines
// of 256 bytes.
constexpr std::uint32_t line_distance(long line_bytes) noexcept {
  std::uint32_t distance = 128;
  while (static_cast<long>(distance) < line_bytes) distance *= 2;
  return distance;
}

// On this machine. Costs as much as sysconf(), which looks at what the C library knows.
inline std::uint32_t own_line_distance() noexcept {
  return line_distance(sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
}

// Fetches a line that this thread will soon write.
inline void prefetch_for_write(const volatile void* line) noexcept {
#if defined(__x86_64__)
  // GCC's builtin emits prefetcht0, a prefetch for reading, on plain x86-64.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const volatile char*>(line)));
#else
  __builtin_prefetch(const_cast<const void*>(line), 1);
#endif
}

// Orders earlier non-temporal stores before later stores. x86's are the only ones that a later
// store may overtake.
inline void fence_non_temporal_stores() noexcept {
#if defined(__SSE__)
  __builtin_ia32_sfence();
#elif defined(__i386__)
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace hierbar

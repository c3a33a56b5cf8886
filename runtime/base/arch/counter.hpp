// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "base/clock.hpp"

namespace hierbar {

// The source of a stamp. libomp and the tool exchange these numbers (trace/stamps.h).
enum class ClockSource : std::uint32_t {
  kCounter = 0,  // the processor's counter: TSC, CNTVCT_EL0
  kSystem = 1,   // clock_gettime(CLOCK_MONOTONIC), in ns
};

// The processor's counter, read after all earlier instructions. A stamp for the end of a wait must
// not be older than the load that ended the wait. Therefore rdtscp and not rdtsc, and isb before
// cntvct.
inline std::uint64_t read_counter() noexcept {
#if defined(__x86_64__)
  unsigned processor;
  return __rdtscp(&processor);
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
#else
  return 0;
#endif
}

#if defined(__aarch64__)
inline constexpr const char* kCounterName = "CNTVCT_EL0";
#else
inline constexpr const char* kCounterName = "invariant TSC";
#endif

// Whether the counter has one rate in all power states of all processors, and can be read as above.
inline bool counter_is_usable() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool invariant = __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
  const bool has_rdtscp = __get_cpuid(0x80000001U, &a, &b, &c, &d) != 0 && (d & 1U << 27) != 0;
  return invariant && has_rdtscp;
#elif defined(__aarch64__)
  return true;  // the architecture guarantees it
#else
  return false;
#endif
}

inline std::uint64_t read_system_ns() noexcept {
  return static_cast<std::uint64_t>(monotonic_ns());
}

inline std::uint64_t read_clock(ClockSource source) noexcept {
  return source == ClockSource::kCounter ? read_counter() : read_system_ns();
}

// ticks * factor / 2^32, wrapping at 64 bits: the factor is a fixed-point number with 32 bits of
// fraction. The product has 128 bits, for which compilers have a type on 64-bit machines only.
inline std::uint64_t scale_ticks(std::uint64_t ticks, std::uint64_t factor) noexcept {
#if defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(ticks) * factor) >> 32);
#else
  const std::uint64_t fraction = factor & 0xffff'ffff;
  return ticks * (factor >> 32) + (ticks >> 32) * fraction +
         (((ticks & 0xffff'ffff) * fraction) >> 32);
#endif
}

}  // namespace hierbar

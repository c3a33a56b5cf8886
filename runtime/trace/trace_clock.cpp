// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace/trace_clock.hpp"

#include <algorithm>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hierbar {
namespace {

// Whether the counter has one rate in all power states of all processors, and rdtscp exists.
bool counter_is_usable() {
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

// Both clocks at one time. Of 16 attempts the one with the shortest interval counts.
TraceClock::Anchor read_both() {
  TraceClock::Anchor best{};
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = read_counter();
    const std::uint64_t ns = read_system_ns();
    const std::uint64_t after = read_counter();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, ns};
  }
  return best;
}

// The two readings may be 20 ns apart. Over 2 ms that is an error of 10 millionths.
double measure_ns_per_tick() {
  constexpr std::uint64_t kSpan_ns = 2'000'000;
  const TraceClock::Anchor start = read_both();
  TraceClock::Anchor end = start;
  while (end.ns - start.ns < kSpan_ns) end = read_both();
  return static_cast<double>(end.ns - start.ns) / static_cast<double>(std::max<std::uint64_t>(end.ticks - start.ticks, 1));
}

}  // namespace

TraceClock::TraceClock(ClockSource source, std::uint64_t ns_per_tick) : source_(source), ns_per_tick_(ns_per_tick) {
  measure_stamps();
}

TraceClock TraceClock::measure() {
  if (!counter_is_usable()) return system();
  return TraceClock(ClockSource::kCounter,
                    static_cast<std::uint64_t>(measure_ns_per_tick() * static_cast<double>(std::uint64_t{1} << kShift)));
}

TraceClock::Anchor TraceClock::anchor() const {
  if (source_ == ClockSource::kCounter) return read_both();
  const std::uint64_t ns = read_system_ns();
  return {ns, ns};
}

std::string TraceClock::name() const {
  if (source_ == ClockSource::kSystem) return "clock_gettime(CLOCK_MONOTONIC)";
#if defined(__aarch64__)
  return "CNTVCT_EL0";
#else
  return "invariant TSC";
#endif
}

// The shortest of several rounds counts, because an interrupt only adds time.
void TraceClock::measure_stamps() {
  constexpr int kRounds = 20;
  constexpr int kStamps = 500;
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t quickest = smallest;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t start = now();
    std::uint64_t last = start;
    for (int i = 0; i < kStamps; ++i) {
      const std::uint64_t stamp = now();
      if (stamp != last) smallest = std::min(smallest, stamp - last);
      last = stamp;
    }
    quickest = std::min(quickest, last - start);
  }
  // If all stamps were equal, a tick is longer than a round. A round is the best that is known
  // then.
  if (smallest > quickest && quickest > 0) smallest = quickest;
  resolution_ns_ = static_cast<double>(smallest) * ns_per_tick();
  stamp_ns_ = static_cast<double>(quickest) * ns_per_tick() / kStamps;
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

namespace hierbar::bench {

// The file that a function of this process comes from, without symbolic links; "unknown" if there
// is no such function.
inline std::string file_of(const char* symbol) {
  Dl_info info{};
  void* const address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr)
    return "unknown";
  char* const resolved = realpath(info.dli_fname, nullptr);
  const std::string path = resolved == nullptr ? info.dli_fname : resolved;
  std::free(resolved);
  return path;
}

// ns since some fixed moment, which is the same for all threads.
inline double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The ns that the calling thread has computed. They do not grow while others have its cpu.
inline double thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// The cost of one reading of the clock: the smallest distance between two readings.
inline double clock_cost_ns() {
  double cost = 1e9;
  for (int i = 0; i < 1000; ++i) {
    const double first = now_ns();
    cost = std::min(cost, now_ns() - first);
  }
  return cost;
}

// Work that touches no memory and that no compiler removes.
inline void burn(long iterations) {
  for (long i = 0; i < iterations; ++i) asm volatile("" : "+r"(i));
}

// The number of iterations of burn() that fill `duration_ns`. The fastest of several trials counts:
// a disturbed one would make the work shorter.
inline long burn_iterations(double duration_ns) {
  constexpr long kTrial = 20000;
  double trial_ns = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = now_ns();
    burn(kTrial);
    trial_ns = std::min(trial_ns, now_ns() - start);
  }
  return static_cast<long>(duration_ns * kTrial / trial_ns);
}

}  // namespace hierbar::bench

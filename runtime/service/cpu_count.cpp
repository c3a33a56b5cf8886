// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "service/cpu_count.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "placement/evidence/kernel_cpus.hpp"

namespace hierbar {
namespace {

// glibc opens and reads a file for it. Asked once; cpus that come later make no plan better.
long count_online_cpus() {
  static constinit std::atomic<long> known{0};
  // relaxed, both: it publishes nothing but itself, and whoever finds 0 asks for the same number.
  long online = known.load(std::memory_order_relaxed);
  if (online <= 0) {
    online = sysconf(_SC_NPROCESSORS_ONLN);
    known.store(online, std::memory_order_relaxed);
  }
  return online;
}

}  // namespace

std::uint32_t count_cpus(const std::vector<CpuSet>& bindings) {
  CpuSet cpus;
  bool all_are_bound = !bindings.empty();
  for (const CpuSet& binding : bindings) {
    cpus |= binding;
    all_are_bound = all_are_bound && !binding.empty();
  }
  // The process's main thread: the caller may have bound itself to one cpu already.
  if (!all_are_bound) {
    if (const Result<CpuSet> own = own_cpus(getpid()); own.ok()) cpus |= *own;
  }
  // Bindings may name cpus that do not exist: a bitmap of ones is a usual way to say "anywhere".
  return static_cast<std::uint32_t>(std::min<long>(cpus.count(), count_online_cpus()));
}

}  // namespace hierbar

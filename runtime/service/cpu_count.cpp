// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "service/cpu_count.hpp"

#include <unistd.h>

#include <algorithm>

#include "placement/evidence/kernel_cpus.hpp"

namespace hierbar {
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
  return static_cast<std::uint32_t>(std::min<long>(cpus.count(), sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace hierbar

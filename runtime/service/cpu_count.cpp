// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "service/cpu_count.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

namespace hierbar {
namespace {

// The affinity of the process's main thread: the caller may have bound itself to one cpu already.
CpuSet allowed_cpus() {
  CpuSet cpus;
  // Machines may have more than CPU_SETSIZE cpus.
  for (int capacity = CPU_SETSIZE; capacity <= 1 << 20; capacity *= 2) {
    const std::size_t num_bytes = CPU_ALLOC_SIZE(capacity);
    const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
    const std::unique_ptr<cpu_set_t, decltype(release)> set(CPU_ALLOC(capacity), release);
    if (set == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(num_bytes, set.get());
    if (sched_getaffinity(getpid(), num_bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    for (int cpu = 0; cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(cpu, num_bytes, set.get())) cpus.set(cpu);
    }
    break;
  }
  return cpus;
}

}  // namespace

std::uint32_t count_cpus(const std::vector<CpuSet>& bindings) {
  CpuSet cpus;
  bool all_are_bound = !bindings.empty();
  for (const CpuSet& binding : bindings) {
    cpus |= binding;
    all_are_bound = all_are_bound && !binding.empty();
  }
  if (!all_are_bound) cpus |= allowed_cpus();
  // Bindings may name cpus that do not exist: a bitmap of ones is a usual way to say "anywhere".
  return static_cast<std::uint32_t>(std::min<long>(cpus.count(), sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/kernel_cpus.hpp"

#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/bound_thread.hpp"

namespace hierbar {
namespace {

void* ask_for_all(void* result) {
  // Some sandboxes refuse this. Then the thread keeps the mask that it has inherited.
  (void)KernelMask::of_all_cpus().bind();
  *static_cast<Result<CpuSet>*>(result) = own_cpus();
  return nullptr;
}

}  // namespace

Result<CpuSet> own_cpus(pid_t thread) {
  const KernelMask mask = KernelMask::of_thread(thread);
  const CpuSet cpus(mask.words().data(), static_cast<std::uint32_t>(mask.words().size()));
  if (cpus.empty()) return Error{std::string("sched_getaffinity: ") + std::strerror(errno)};
  return cpus;
}

// A pthread and no std::thread: that throws, which is not allowed inside a runtime that starts up.
Result<CpuSet> probe_kernel_cpus() {
  Result<CpuSet> result = CpuSet();
  pthread_t thread{};
  const int error = pthread_create(&thread, nullptr, ask_for_all, &result);
  if (error != 0) return Error{std::string("pthread_create: ") + std::strerror(error)};
  pthread_join(thread, nullptr);
  return result;
}

CpuSet online_cpus(const std::string& sys) {
  std::ifstream file(sys + "/devices/system/cpu/online");
  std::string list;
  file >> list;
  const Result<CpuSet> cpus = CpuSet::parse(list);
  return cpus ? *cpus : CpuSet();
}

}  // namespace hierbar

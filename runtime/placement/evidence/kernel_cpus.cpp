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

namespace {

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// Empty where the file has no list of cpus.
CpuSet read_cpus(const std::string& path) {
  const Result<CpuSet> cpus = CpuSet::parse(first_word(path));
  return cpus ? *cpus : CpuSet();
}

}  // namespace

CpuSet online_cpus(const std::string& sys) { return read_cpus(sys + "/devices/system/cpu/online"); }

bool share_cores(const CpuSet& cpus, const std::string& sys) {
  const std::string directory = sys + "/devices/system/cpu/";
  if (first_word(directory + "smt/active") == "0") return false;
  for (const std::uint32_t cpu : cpus) {
    const CpuSet siblings = read_cpus(directory + "cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    if ((siblings & cpus).count() > 1) return true;
  }
  return false;
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/kernel_cpus.hpp"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

namespace hierbar {
namespace {

// The kernel does not return a mask that does not fit, and shortens a longer one when it is set.
// Linux has at most 8192 cpus.
constexpr std::size_t kFirstWords = 1024 / 64;
constexpr std::size_t kMaxWords = (1U << 20) / 64;

// The kernel takes an array of words. A cpu_set_t is such an array, of one length.
cpu_set_t* as_cpu_set(std::vector<std::uint64_t>& words) { return reinterpret_cast<cpu_set_t*>(words.data()); }

void* ask_for_all(void* result) {
  std::vector<std::uint64_t> all(kMaxWords, std::numeric_limits<std::uint64_t>::max());
  // Some sandboxes refuse this. Then the thread keeps the mask that it has inherited.
  (void)sched_setaffinity(0, all.size() * sizeof all[0], as_cpu_set(all));
  *static_cast<Result<CpuSet>*>(result) = own_cpus();
  return nullptr;
}

}  // namespace

Result<CpuSet> own_cpus() {
  for (std::size_t num_words = kFirstWords; num_words <= kMaxWords; num_words *= 2) {
    std::vector<std::uint64_t> words(num_words);
    if (sched_getaffinity(0, words.size() * sizeof words[0], as_cpu_set(words)) == 0) {
      return CpuSet(words.data(), static_cast<std::uint32_t>(num_words));
    }
    if (errno != EINVAL) return Error{std::string("sched_getaffinity: ") + std::strerror(errno)};
  }
  return Error{"sched_getaffinity: the kernel's masks are longer than expected"};
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

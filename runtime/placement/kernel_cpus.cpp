// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/kernel_cpus.hpp"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

namespace hierbar {
namespace {

// The kernel refuses to tell a mask that does not fit, and cuts one that is too long when it is set. Linux stops at 8192 cpus.
constexpr std::size_t kFirstWords = 1024 / 64;
constexpr std::size_t kMaxWords = (1U << 20) / 64;

// The array of words that the kernel takes is what cpu_set_t is, of any length.
cpu_set_t* as_cpu_set(std::vector<std::uint64_t>& words) { return reinterpret_cast<cpu_set_t*>(words.data()); }

void* ask_for_all(void* result) {
  std::vector<std::uint64_t> all(kMaxWords, std::numeric_limits<std::uint64_t>::max());
  // Refused under some sandboxes: then the thread keeps the mask that it inherited.
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

// Not a std::thread: it throws where this must not, inside a runtime that starts up.
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

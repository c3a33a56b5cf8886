// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hierbar {

// A mask of cpus as the kernel takes it. cpu_set_t has only 1024; Linux has at most 8192.
class KernelMask {
 public:
  static constexpr std::uint32_t kMostCpus = 1 << 16;

  // What a thread may use, the calling one by default; empty, with errno, if the kernel does not
  // say it.
  static KernelMask of_thread(pid_t thread = 0) {
    KernelMask mask;
    sched_getaffinity(thread, mask.num_bytes(), mask.set());
    return mask;
  }
  static KernelMask of_all_cpus() {
    KernelMask mask;
    mask.words_.assign(mask.words_.size(), ~std::uint64_t{0});
    return mask;
  }
  // One cpu; none if its number is too large.
  static KernelMask of_cpu(std::uint32_t cpu) {
    KernelMask mask;
    if (cpu < kMostCpus) CPU_SET_S(cpu, mask.num_bytes(), mask.set());
    return mask;
  }
  // Cpu i is bit i % 64 of words[i / 64]. Those with too large numbers are left out.
  static KernelMask of_words(std::span<const std::uint64_t> words) {
    KernelMask mask;
    std::copy_n(words.begin(), std::min(words.size(), mask.words_.size()), mask.words_.begin());
    return mask;
  }
  bool has(std::uint32_t cpu) const {
    return cpu < kMostCpus && CPU_ISSET_S(cpu, num_bytes(), set());
  }
  // In the form of of_words().
  const std::vector<std::uint64_t>& words() const { return words_; }
  // Binds the calling thread. Returns false if the kernel refuses: the cpu is offline, or not
  // allowed.
  bool bind() const { return sched_setaffinity(0, num_bytes(), set()) == 0; }

 private:
  std::size_t num_bytes() const { return words_.size() * sizeof words_[0]; }
  cpu_set_t* set() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
  const cpu_set_t* set() const { return reinterpret_cast<const cpu_set_t*>(words_.data()); }

  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(kMostCpus / 64);
};

// Binds the calling thread to one cpu for good. Returns whether it is bound.
inline bool bind_this_thread(std::uint32_t cpu) { return KernelMask::of_cpu(cpu).bind(); }

// Binds the calling thread to one cpu as long as this object lives. If the binding fails (the cpu
// went offline, or the mask has changed), only precision is lost.
class BoundThread {
 public:
  explicit BoundThread(std::uint32_t cpu) : before_(KernelMask::of_thread()) {
    bind_this_thread(cpu);
  }
  ~BoundThread() { before_.bind(); }
  BoundThread(const BoundThread&) = delete;
  BoundThread& operator=(const BoundThread&) = delete;

 private:
  const KernelMask before_;
};

}  // namespace hierbar

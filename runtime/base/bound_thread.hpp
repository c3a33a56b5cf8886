// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hierbar {

// A mask of cpus as the kernel takes it. cpu_set_t has only 1024; Linux has at most 8192.
class KernelMask {
 public:
  static constexpr std::uint32_t kMostCpus = 1 << 16;

  // What the calling thread may use; empty if the kernel does not say it.
  static KernelMask of_this_thread() {
    KernelMask mask;
    sched_getaffinity(0, mask.num_bytes(), mask.set());
    return mask;
  }
  // One cpu; none if its number is too large.
  static KernelMask of_cpu(std::uint32_t cpu) {
    KernelMask mask;
    if (cpu < kMostCpus) CPU_SET_S(cpu, mask.num_bytes(), mask.set());
    return mask;
  }
  bool has(std::uint32_t cpu) const { return cpu < kMostCpus && CPU_ISSET_S(cpu, num_bytes(), set()); }
  // Binds the calling thread. Returns false if the kernel refuses: the cpu is offline, or not
  // allowed.
  bool bind() const { return sched_setaffinity(0, num_bytes(), set()) == 0; }

 private:
  std::size_t num_bytes() const { return words_.size() * sizeof words_[0]; }
  cpu_set_t* set() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
  const cpu_set_t* set() const { return reinterpret_cast<const cpu_set_t*>(words_.data()); }

  std::vector<unsigned long> words_ = std::vector<unsigned long>(kMostCpus / 8 / sizeof(unsigned long));
};

// Binds the calling thread to one cpu for good. Returns whether it is bound.
inline bool bind_this_thread(std::uint32_t cpu) { return KernelMask::of_cpu(cpu).bind(); }

// Binds the calling thread to one cpu as long as this object lives. If the binding fails (the cpu
// went offline, or the mask has changed), only precision is lost.
class BoundThread {
 public:
  explicit BoundThread(std::uint32_t cpu) : before_(KernelMask::of_this_thread()) { bind_this_thread(cpu); }
  ~BoundThread() { before_.bind(); }
  BoundThread(const BoundThread&) = delete;
  BoundThread& operator=(const BoundThread&) = delete;

 private:
  const KernelMask before_;
};

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

namespace hierbar {

// Binds the calling thread to one cpu as long as this object lives. If the binding fails (the cpu
// went offline, or the mask has changed), only precision is lost.
class BoundThread {
 public:
  explicit BoundThread(std::uint32_t cpu) : before_(kMostCpus / 8 / sizeof(unsigned long)) {
    sched_getaffinity(0, num_bytes(), mask(before_));
    std::vector<unsigned long> only(before_.size());
    if (cpu < kMostCpus) CPU_SET_S(cpu, num_bytes(), mask(only));
    sched_setaffinity(0, num_bytes(), mask(only));
  }
  ~BoundThread() { sched_setaffinity(0, num_bytes(), mask(before_)); }
  BoundThread(const BoundThread&) = delete;
  BoundThread& operator=(const BoundThread&) = delete;

 private:
  static constexpr std::size_t kMostCpus = 1 << 16;  // cpu_set_t has only 1024
  std::size_t num_bytes() const { return before_.size() * sizeof(unsigned long); }
  static cpu_set_t* mask(std::vector<unsigned long>& words) { return reinterpret_cast<cpu_set_t*>(words.data()); }

  std::vector<unsigned long> before_;
};

}  // namespace hierbar

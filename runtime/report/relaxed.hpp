// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>

namespace hierbar::report {

// A variable that one thread writes. Other threads read it after the recorded barriers have ordered
// the read behind the write. The barriers belong to the runtime, so neither the compiler nor a
// sanitizer sees that order. A cancelled region may lack it: then the value is stale, and its
// episode number shows that. Relaxed, because all that is needed is a value that is not torn.
template <class T>
class Relaxed {
 public:
  Relaxed() noexcept : value_(T{}) {}
  Relaxed(const Relaxed&) = delete;
  void operator=(const Relaxed& other) noexcept { *this = static_cast<T>(other); }
  operator T() const noexcept { return value_.load(std::memory_order_relaxed); }
  void operator=(T value) noexcept { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<T> value_;
};

}  // namespace hierbar::report

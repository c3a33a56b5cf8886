// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>

namespace hierbar::ompt {

// A variable that one thread writes and others read when the barriers that are being recorded have put an order between them.
// That order is the runtime's, which neither the compiler nor a sanitizer sees, and a cancelled region may lack it: what is read
// is then stale, and its episode number says so. Relaxed, because no more than an untorn value is needed.
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

}  // namespace hierbar::ompt

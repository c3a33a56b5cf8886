// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <csetjmp>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace hierbar {

// An execution context with its own stack, which runs only when another fiber switches to it. All
// fibers that switch to each other must belong to one thread. Not for use under ThreadSanitizer:
// each switch would have to be announced to it, and one thread has no data races.
class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 256 * 1024;

  // The context that already runs, on the thread's own stack.
  Fiber() = default;
  // `body` begins at the first switch to this fiber and must never return.
  explicit Fiber(std::function<void()> body)
      : body_(std::move(body)),
        stack_(new std::byte[kStackBytes]),
        stack_bottom_(stack_.get()),
        stack_bytes_(kStackBytes) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Must be called by this fiber. Suspends it and resumes `next`. Returns when another fiber
  // switches back.
  void switch_to(Fiber& next);

 private:
  static void enter(unsigned high, unsigned low);
  void start();
  void arrived();

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;  // null for the thread's own stack
  bool started_ = false;
  jmp_buf registers_{};
  Fiber* came_from_ = nullptr;
  // For AddressSanitizer. The place of the thread's own stack becomes known at the first switch
  // away from it.
  const void* stack_bottom_ = nullptr;
  [[maybe_unused]] std::size_t stack_bytes_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;
};

}  // namespace hierbar

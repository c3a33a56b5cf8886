// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <csetjmp>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace hierbar {

// A place of execution with a stack of its own, that runs only when it is switched to. All fibers that switch to each other
// belong to one thread. Not for ThreadSanitizer, which would have to be told about every switch and has nothing to find here.
class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 256 * 1024;

  // The fiber that is already running: the thread's own stack.
  Fiber() = default;
  // `body` begins at the first switch to this fiber and must never return.
  explicit Fiber(std::function<void()> body)
      : body_(std::move(body)), stack_(new std::byte[kStackBytes]), stack_bottom_(stack_.get()), stack_bytes_(kStackBytes) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Stops here, the caller, and goes on in `next`. Returns when somebody switches back.
  void switch_to(Fiber& next);

 private:
  static void enter(unsigned high, unsigned low);
  void start();
  void arrived();

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;  // null: the thread's own
  bool started_ = false;
  jmp_buf registers_{};
  Fiber* came_from_ = nullptr;
  // For AddressSanitizer. Where the thread's own stack is, is learned at the first switch away from it.
  const void* stack_bottom_ = nullptr;
  [[maybe_unused]] std::size_t stack_bytes_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;
};

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <genmc.h>

// GenMC's own functions, under the names that the models use.
namespace hierbar::model {

// What must hold. If it does not, the checker reports file and line.
#define MODEL_EXPECT(condition) \
  ((condition) ? (void)0 : __VERIFIER_assert_fail(#condition, __FILE__, __LINE__))

// Waits until `condition` holds. The checker explores every value that the condition may read. If
// it does not hold for one, the thread is blocked in that execution. If only blocked threads are
// left, and their conditions have read the newest values, no thread can ever go on. The checker
// then reports a liveness violation: a deadlock, or a lost wake-up.
//
// A branch decides, as in the loop that this replaces. So under IMM the accesses after the wait
// depend on it. An argument of __VERIFIER_spin_end() would not be such a dependency.
template <class Condition>
void wait_until(Condition&& condition) noexcept {
  __VERIFIER_loop_begin();
  __VERIFIER_spin_start();
  if (!condition()) __VERIFIER_spin_end(0);
}

class Thread {
 public:
  void start(void* (*routine)(void*)) noexcept {
    id_ = __VERIFIER_thread_create(nullptr, routine, nullptr);
  }
  void join() const noexcept { __VERIFIER_thread_join(id_, nullptr); }

 private:
  __VERIFIER_thread_t id_;
};

class Mutex {
 public:
  void lock() noexcept { __VERIFIER_mutex_lock(&mutex_); }
  void unlock() noexcept { __VERIFIER_mutex_unlock(&mutex_); }

 private:
  __VERIFIER_mutex_t mutex_ = __VERIFIER_MUTEX_INITIALIZER;
};

}  // namespace hierbar::model

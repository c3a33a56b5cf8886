// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <genmc.h>

// GenMC's own functions under the names that the models use.
namespace hierbar::model {

// What must hold; the checker reports the file and the line.
#define MODEL_EXPECT(condition) ((condition) ? (void)0 : __VERIFIER_assert_fail(#condition, __FILE__, __LINE__))

// A thread stays here until `condition` holds. The checker explores every value that the condition may read; where it does not
// hold, the thread is blocked. When all that is left of an execution are blocked threads whose conditions have read the newest
// values, nobody will ever go on, and the checker reports a liveness violation: a deadlock, or a lost wake-up.
//
// A branch decides, as in the loop that this stands for: under IMM what comes behind the wait depends on it. An argument of
// __VERIFIER_spin_end() would not be such a dependency.
template <class Condition>
void wait_until(Condition&& condition) noexcept {
  __VERIFIER_loop_begin();
  __VERIFIER_spin_start();
  if (!condition()) __VERIFIER_spin_end(0);
}

class Thread {
 public:
  void start(void* (*routine)(void*)) noexcept { id_ = __VERIFIER_thread_create(nullptr, routine, nullptr); }
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

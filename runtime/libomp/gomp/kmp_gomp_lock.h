// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_LOCK_H
#define KMP_GOMP_LOCK_H

// Nestable locks are owned by tasks. libomp's own know the thread only, so that another task of the
// thread, for instance one that it runs in a barrier, would take a lock that its owner holds. Here
// the lock remembers the task too, for omp_test_nest_lock(). omp_set_nest_lock() of another task of
// the owner's thread still nests: that task could only wait forever.
//
// The patch adds the field owner_task to the locks and calls these in kmp_csupport.cpp.

#include "kmp.h"
#include "kmp_lock.h"
#include "libomp/gomp/kmp_gomp_messages.h"

#include <atomic>

#if KMP_USE_DYNAMIC_LOCK

static inline std::atomic<void *> *__kmp_gomp_lock_owner(void **user_lock) {
  return &KMP_LOOKUP_I_LOCK(user_lock)->owner_task;
}

static inline void *__kmp_gomp_current_task(int gtid) {
  return __kmp_threads[gtid]->th.th_current_task;
}

// Whether another task may hold the lock; then it must not be tried. If that is one of another
// thread, the try would fail as well.
static inline bool __kmp_gomp_is_held_by_another_task(int gtid, void **user_lock) {
  void *owner = __kmp_gomp_lock_owner(user_lock)->load(std::memory_order_relaxed);
  return owner && owner != __kmp_gomp_current_task(gtid);
}

// The lock was just acquired, and not by its owner once more.
static inline void __kmp_gomp_own_lock(int gtid, void **user_lock) {
  __kmp_gomp_lock_owner(user_lock)->store(__kmp_gomp_current_task(gtid), std::memory_order_relaxed);
}

// `owner` was the lock's owner before it was released; there may be another one by now.
static inline void __kmp_gomp_disown_lock(void **user_lock, void *owner) {
  __kmp_gomp_lock_owner(user_lock)->compare_exchange_strong(owner, NULL, std::memory_order_relaxed);
}

#endif // KMP_USE_DYNAMIC_LOCK

#endif // KMP_GOMP_LOCK_H

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A forked child has one thread, the copy of the one that called fork(). libomp abandons the
// parent's teams and begins anew, but takes some things of the parent's for its own.

#include "process/kmp_hierbar_process.h"

void __kmp_hierbar_forget_parent() {
  __kmp_hierbar_unregister_library();                               // many a child never uses OpenMP; it registers when it does
  __kmp_thread_pool_active_nth.store(0, std::memory_order_relaxed); // of the parent's workers
}

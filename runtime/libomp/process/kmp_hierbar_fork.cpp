// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A forked child has one thread, the copy of the one that called fork(). libomp abandons the
// parent's teams and begins anew, but takes some things of the parent's for its own.

#include "process/kmp_hierbar_process.h"

void __kmp_hierbar_forget_parent(bool has_key) {
  // The thread's number in the parent. Where the child's thread ends before the process, libomp
  // would end a root or worker of that number, which the child does not have. And each child of a
  // child would take one more of the process's keys, of which there are 1024.
  if (has_key) {
    int status = pthread_key_delete(__kmp_gtid_threadprivate_key);
    KMP_CHECK_SYSFAIL("pthread_key_delete", status);
  }
  // The team of hidden helpers. Its tasks would wait for it, and so would the end of the process.
  TCW_SYNC_4(__kmp_init_hidden_helper, FALSE);
  TCW_SYNC_4(__kmp_init_hidden_helper_threads, FALSE);
  __kmp_hierbar_unregister_library();                               // many a child never uses OpenMP; it registers when it does
  __kmp_thread_pool_active_nth.store(0, std::memory_order_relaxed); // of the parent's workers
}

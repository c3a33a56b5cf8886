// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A hard pause takes libomp down; the next construct starts it again. What threads remember of the
// number that they had is then out of date in three places.

#include "process/kmp_hierbar_process.h"

void __kmp_hierbar_forget_number() {
#ifdef KMP_TDATA_GTID
  __kmp_gtid = KMP_GTID_DNE; // omp_get_thread_num() looks only here
#endif
  if (TCR_4(__kmp_init_gtid)) // other roots keep the library up
    pthread_setspecific(__kmp_gtid_threadprivate_key, NULL);
}

// The first of the hidden helpers ends while the library is taken down, and nobody waits until its
// thread-specific data is destroyed. By then the library may be up again.
bool __kmp_hierbar_has_number(int gtid) {
  const kmp_info_t *thread =
      gtid >= 0 && gtid < __kmp_threads_capacity ? (const kmp_info_t *)TCR_SYNC_PTR(__kmp_threads[gtid]) : NULL;
  return thread != NULL && pthread_equal(thread->th.th_info.ds.ds_thread, pthread_self());
}

// Code that Clang compiled asks once for each function, and hands the number to every construct.
// The initial thread has number 0 before and after. Another thread has a new one where the library
// is up again, so its constructs must not go on with the old one.
bool __kmp_hierbar_has_restarted(kmp_int32 gtid) { return !TCR_4(__kmp_init_serial) && __kmp_entry_gtid() == gtid; }

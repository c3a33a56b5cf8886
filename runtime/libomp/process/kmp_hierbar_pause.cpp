// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A hard pause takes libomp down; the next construct starts it again. What threads remember of the
// number that they had is then out of date in two places.

#include "process/kmp_hierbar_process.h"

void __kmp_hierbar_forget_number() {
#ifdef KMP_TDATA_GTID
  __kmp_gtid = KMP_GTID_DNE; // omp_get_thread_num() looks only here
#endif
  if (TCR_4(__kmp_init_gtid)) // other roots keep the library up
    pthread_setspecific(__kmp_gtid_threadprivate_key, NULL);
}

// Code that Clang compiled asks once for each function, and hands the number to every construct.
// The initial thread has number 0 before and after. Another thread has a new one where the library
// is up again, so its constructs must not go on with the old one.
bool __kmp_hierbar_has_restarted(kmp_int32 gtid) { return !TCR_4(__kmp_init_serial) && __kmp_entry_gtid() == gtid; }

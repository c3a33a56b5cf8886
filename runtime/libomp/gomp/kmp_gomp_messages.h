// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_MESSAGES_H
#define KMP_GOMP_MESSAGES_H

// What programs that GCC compiled are told: differences from GCC's library, and settings that do
// nothing here. Called by kmp_gsupport.cpp, kmp_runtime.cpp and kmp_alloc.cpp.

#include "kmp.h"

// Whether this library was loaded under the name that they ask for.
bool __kmp_gomp_is_loaded_for_gcc();

// Says once which variables of GCC's library are set and do nothing.
void __kmp_gomp_report_variables();

// Says once, in a program that GCC compiled, that threads outlive a hard pause of resources.
void __kmp_gomp_report_hard_pause();

// Says once that regions nested in a region are not limited together.
void __kmp_gomp_report_limit(kmp_info_t *thread, unsigned num_threads);

// Called by a thread that is about to fork a region; num_threads is its clause, or 0.
static inline void __kmp_gomp_check_limit(kmp_info_t *thread, unsigned num_threads) {
  if (UNLIKELY(thread->th.th_current_task->td_icvs.task_thread_limit > 0))
    __kmp_gomp_report_limit(thread, num_threads);
}

// Another task of the owner's thread has acquired a nestable lock once more. A program that GCC
// compiled is told once that GCC's library would wait.
void __kmp_gomp_report_nesting(int gtid);

#endif // KMP_GOMP_MESSAGES_H

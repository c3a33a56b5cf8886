// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_CONTENTION_H
#define KMP_HIERBAR_CONTENTION_H

#include "kmp.h"

#include "barrier/contention.hpp"

// Waiting beside others who want the same cpus: other root threads and their teams, threads that
// are not OpenMP's, other processes. A waiting thread of libomp yields for the whole blocktime, 200
// ms by default. Once a yield has shown that somebody else holds a cpu, the waits of all threads of
// the process sleep without a blocktime. Where threads outnumber cpus one in 64 still yields before,
// which shows whether that is so any longer.

extern hierbar::Contention __kmp_hierbar_contention;

// True if the thread's last yield took longer than 100 µs + 10 µs per thread, which is longer than
// waiting threads alone can explain.
bool __kmp_hierbar_yielded_for_long(int num_threads);

// How many cpus' worth of time the process's control groups leave it; INT_MAX: no limit.
extern int __kmp_hierbar_cpu_quota;

// Whether the threads of the process would use more time than its control groups leave it. Then
// even a wait on an idle cpu takes time from the other threads.
static inline bool __kmp_hierbar_exceeds_quota() { return UNLIKELY(TCR_4(__kmp_nth) > __kmp_hierbar_cpu_quota); }

// Whether a wait that begins now sleeps early. A blocktime that the user chose is left alone.
static inline bool __kmp_hierbar_sleeps_early() {
  return (__kmp_hierbar_contention.is_remembered() || __kmp_hierbar_exceeds_quota()) && !__kmp_env_blocktime;
}

#endif // KMP_HIERBAR_CONTENTION_H

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

// Whether the thread's last yield began long ago. Long is more than the others take in turns while
// they only wait: 100 µs, and 10 µs for each of them.
bool __kmp_hierbar_yielded_for_long(int num_threads);

// Whether a wait that begins now sleeps early. A blocktime that the user chose is left alone.
static inline bool __kmp_hierbar_sleeps_early() { return __kmp_hierbar_contention.is_remembered() && !__kmp_env_blocktime; }

// Before a wait in __kmp_wait_template, which sleeps after th_team_bt_intervals; libomp sets that
// anew in each barrier. A blocktime from kmp_set_blocktime() is left alone: it is not the default's.
static inline void __kmp_hierbar_adjust_blocktime(kmp_info_t *thread) {
#if !KMP_USE_MONITOR
#if KMP_OS_UNIX && (KMP_ARCH_X86 || KMP_ARCH_X86_64)
  const kmp_uint64 intervals_per_usec = __kmp_ticks_per_usec;
#else
  const kmp_uint64 intervals_per_usec = KMP_NSEC_PER_USEC;
#endif
  if (__kmp_hierbar_sleeps_early() && thread->th.th_team_bt_intervals == (kmp_uint64)__kmp_dflt_blocktime * intervals_per_usec)
    thread->th.th_team_bt_intervals = 0;
#endif
}

#endif // KMP_HIERBAR_CONTENTION_H

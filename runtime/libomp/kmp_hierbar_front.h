// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_FRONT_H
#define KMP_HIERBAR_FRONT_H

// The short ways into the library: what an entry point does if there is nothing to wait for and
// nobody watches. The rest is in a function of its own, which the entry point jumps to. In one
// function the compiler would save registers for the rest on both ways: six in an explicit barrier.

#include "kmp.h"
#include "kmp_itt.h"
#include "libomp/kmp_hierbar_settings.h"
#if OMPT_SUPPORT
#include "ompt-internal.h"
#endif

// True if no tool, ITT or consistency check has to know of locks and turns.
static inline bool __kmp_hierbar_is_unwatched() {
#if OMPT_SUPPORT
  if (ompt_enabled.enabled)
    return false;
#endif
#if USE_ITT_BUILD && USE_ITT_NOTIFY
  if (__itt_sync_prepare_ptr != NULL)
    return false;
#endif
  return __kmp_hierbar_unchecked;
}

// Whether the turn of an ordered region, in a team of one thread, is its thread's without a wait.
static inline bool __kmp_hierbar_has_turn(int gtid) {
  return __kmp_hierbar_is_unwatched() && (kmp_uint32)gtid < (kmp_uint32)__kmp_threads_capacity &&
         __kmp_threads[gtid]->th.th_team->t.t_serialized;
}

// omp_get_max_threads(), or 0 where the thread may have to be brought to its place first.
static inline int __kmp_hierbar_known_max_threads() {
  const int gtid = __kmp_hierbar_known_gtid();
  if (UNLIKELY(gtid < 0 || !__kmp_init_middle))
    return 0;
  const kmp_info_t *thread = __kmp_threads[gtid];
  const bool is_placed =
      thread->th.th_team->t.t_level != 0 ||
      (thread->th.th_root->r.r_affinity_assigned && !__kmp_hierbar_primary_is_free);
  return is_placed ? thread->th.th_current_task->td_icvs.nproc : 0;
}

#endif // KMP_HIERBAR_FRONT_H

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PHASES_H
#define KMP_HIERBAR_PHASES_H

// Gather and release along the plan. Called by kmp_barrier.cpp, like the functions of the other
// patterns.

#include "kmp.h"
#include "kmp_itt.h"

void __kmp_hierbar_gather(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                          void (*reduce)(void *, void *) USE_ITT_BUILD_ARG(void *itt_sync_obj));
void __kmp_hierbar_release(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                           int propagate_icvs USE_ITT_BUILD_ARG(void *itt_sync_obj));

// Counts an episode of libomp's own cancellable barrier, before it.
void __kmp_hierbar_count_stock(kmp_team_t *team, int tid);

#endif // KMP_HIERBAR_PHASES_H

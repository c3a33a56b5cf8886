// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_UNCHANGED_H
#define KMP_HIERBAR_UNCHANGED_H

// Whether a region is like the one before, whose record this is (step 1 in kmp_hierbar_region.h).

#include "region/kmp_hierbar_region.h"

#include <string.h>

static inline kmp_uint64 differ(const void *a, const void *b) { return (kmp_uint64)a ^ (kmp_uint64)b; }
static inline kmp_uint64 differ(kmp_uint32 a, kmp_uint32 b) { return a ^ b; }

static inline kmp_uint64 differ(const kmp_internal_control_t &a, const kmp_internal_control_t &b) {
  kmp_uint64 left[sizeof(a) / sizeof(kmp_uint64)], right[sizeof(left) / sizeof(kmp_uint64)];
  memcpy(left, &a, sizeof(left));
  memcpy(right, &b, sizeof(right));
  kmp_uint64 result = 0;
  for (size_t i = 0; i < sizeof(left) / sizeof(kmp_uint64); ++i)
    result |= left[i] ^ right[i];
  return result;
}

// All of it is read and one branch taken: read one after the other, each answer would be waited
// for.
static inline bool is_unchanged(const kmp_info_t *thread, const kmp_hierbar_region_t *region, kmp_int32 argc) {
  const kmp_team_t *team = region->team;
  const kmp_root_t *root = thread->th.th_root;
  const kmp_internal_control_t &icvs = thread->th.th_current_task->td_icvs;
  const int nproc = thread->th.th_set_nproc != 0 ? thread->th.th_set_nproc : icvs.nproc;
  const kmp_proc_bind_t asked_bind = thread->th.th_set_proc_bind;
  const kmp_proc_bind_t icv_bind = icvs.proc_bind;
  const bool binds = icv_bind != proc_bind_false && asked_bind != proc_bind_default;
  kmp_uint64 d = differ(icvs, region->outer_icvs) | region->fp_control.differ();
  d |= differ(thread->th.th_team, region->parent) | differ(thread->th.th_current_task, region->outer_task);
  d |= differ(nproc, region->nproc) | differ(team->t.t_nproc, region->nproc) | team->t.t_size_changed;
  d |= differ(binds ? asked_bind : icv_bind, team->t.t_proc_bind) | differ(team->t.t_parent, region->parent);
  d |= differ(team->t.t_level, 1) | differ(team->t.t_active_level, 1);
  d |= team->t.t_cancel_request.load(std::memory_order_relaxed);
  d |= differ((void *)thread->th.th_def_allocator, (void *)region->allocator) | __kmp_hierbar_asks_for_more(thread);
  d |= differ((void *)thread->th.th_teams_microtask, NULL) | differ(thread->th.th_gomp_base, NULL);
  d |= root->r.r_active | root->r.r_in_parallel.load(std::memory_order_relaxed);
  d |= differ(__kmp_pause_status, kmp_not_paused) | __kmp_hierbar_barrier_calls_offload();
  d |= differ(__kmp_hierbar_settings_count.load(std::memory_order_relaxed), region->settings);
#if KMP_AFFINITY_SUPPORTED
  d |= differ(thread->th.th_first_place, team->t.t_first_place) | differ(thread->th.th_last_place, team->t.t_last_place);
#endif
  return d == 0 && argc <= KMP_HIERBAR_MAX_ARGS;
}

#endif // KMP_HIERBAR_UNCHANGED_H

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_UNCHANGED_H
#define KMP_HIERBAR_UNCHANGED_H

// Whether a region is like the one before, whose record this is (step 1 in kmp_hierbar_region.h).
//
// What a region does is decided by its call, by where the thread is, by the floating-point control
// words, which a program sets without the runtime, and by what functions of the runtime have set.
// Each of those functions counts: in th_hierbar_changes of the thread that calls it, if it concerns
// this thread's regions, else in __kmp_hierbar_settings_count. So the counts stand for all that they
// set, and what is compared here does not grow with the runtime.
//
// A thread's count says that something has been set, and not that it is another value: programs set
// the number of threads before each region. Then all values are compared (keeps_values()), and if
// they are the same, the region is lean. What has no value to compare counts for all threads, or is
// refused there. Where LLVM's assertions are on, the values are compared always.

#include "region/kmp_hierbar_region.h"

#include <string.h>

static inline kmp_uint64 differ(const void *a, const void *b) { return (kmp_uint64)a ^ (kmp_uint64)b; }
static inline kmp_uint64 differ(kmp_uint32 a, kmp_uint32 b) { return a ^ b; }

// Branch-free: all loads are issued before a single branch, so that their misses overlap.
static inline bool is_unchanged(const kmp_info_t *thread, const kmp_hierbar_region_t *region, kmp_int32 argc) {
  const kmp_internal_control_t &icvs = region->outer_icvs;
  const int nproc = thread->th.th_set_nproc != 0 ? thread->th.th_set_nproc : icvs.nproc;
  const kmp_proc_bind_t asked_bind = thread->th.th_set_proc_bind;
  const bool binds = icvs.proc_bind != proc_bind_false && asked_bind != proc_bind_default;
  // The counts.
  kmp_uint64 d = differ(thread->th.th_hierbar_changes, region->changes);
  d |= differ(__kmp_hierbar_settings_count.load(std::memory_order_relaxed), region->settings);
  d |= region->fp_control.differ();
  // Where the thread is.
  d |= differ(thread->th.th_team, region->parent) | differ(thread->th.th_current_task, region->outer_task);
  d |= differ((void *)thread->th.th_teams_microtask, NULL) | differ(thread->th.th_gomp_base, NULL);
  // What the call asks for.
  d |= differ(nproc, region->nproc) | differ(binds ? asked_bind : icvs.proc_bind, region->proc_bind);
  d |= __kmp_hierbar_asks_for_more(thread) | __kmp_hierbar_barrier_calls_offload();
  return d == 0 && argc <= KMP_HIERBAR_MAX_ARGS;
}

// Whether all that the thread's count stands for is as it was.
static inline bool keeps_values(const kmp_info_t *thread, const kmp_hierbar_region_t *region) {
  const kmp_team_t *team = region->team;
  bool result = memcmp(&thread->th.th_current_task->td_icvs, &region->outer_icvs, sizeof(region->outer_icvs)) == 0;
  result = result && thread->th.th_def_allocator == region->allocator;
  result = result && team->t.t_nproc == region->nproc && team->t.t_size_changed == 0;
  result = result && team->t.t_parent == region->parent && team->t.t_level == 1 && team->t.t_active_level == 1;
  result = result && team->t.t_cancel_request.load(std::memory_order_relaxed) == cancel_noreq;
#if KMP_AFFINITY_SUPPORTED
  result = result && team->t.t_proc_bind == region->proc_bind;
  result = result && thread->th.th_first_place == team->t.t_first_place && thread->th.th_last_place == team->t.t_last_place;
#endif
  return result && __kmp_pause_status == kmp_not_paused;
}

#endif // KMP_HIERBAR_UNCHANGED_H

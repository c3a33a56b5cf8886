// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The record that a lean region is compared with, and why a region was not lean.

#include "libomp/region/kmp_hierbar_region_record.h"

#include <new>
#include <string.h>

#include "kmp_affinity.h"
#include "kmp_itt.h"
#include "libomp/barrier/kmp_hierbar_team.h"
#include "libomp/kmp_hierbar_compat.h"
#include "libomp/kmp_hierbar_placement.h"
#if OMPD_SUPPORT
#include "ompd-specific.h"
#endif

bool __kmp_hierbar_lean_regions = false;
std::atomic<kmp_uint32> __kmp_hierbar_settings_count(0);

// Of all roots; the last one wins.
static std::atomic<int> last_reason(kmp_hierbar_unchanged);

static const char *const texts[kmp_hierbar_num_reasons] = {
    "it was lean",
    "it was the first one of its thread",
    "it was nested",
    "it was in a teams construct",
    "it was in a task",
    "it had more than 5 arguments",
    "its team size changed",
    "the ICVs changed",
    "the places changed",
    "the default allocator changed",
    "the floating-point control words changed",
    "the settings were read again",
    "the previous one was cancelled",
    "OpenMP was paused",
    "dyn-var lets its size change",
    "its size was set with strict, or for several levels",
    "a tool, a debugger or an offload runtime is attached",
    "a setting for debugging is on",
    "there is no hot team",
    "KMP_STACKPAD is set",
};

const char *__kmp_hierbar_last_reason() {
  const int reason = last_reason.load(std::memory_order_relaxed);
  return reason == kmp_hierbar_unchanged ? NULL : texts[reason];
}

void __kmp_hierbar_settings_changed() {
  // Relaxed: who is told of the change by other means, and begins a region then, sees the count.
  __kmp_hierbar_settings_count.fetch_add(1, std::memory_order_relaxed);
}

static kmp_hierbar_region_t *record_of(kmp_info_t *thread) {
  if (thread->th.th_hierbar_region == NULL) {
    void *memory = __kmp_allocate(sizeof(kmp_hierbar_region_t)); // on lines of its own, zero
    thread->th.th_hierbar_region = new (memory) kmp_hierbar_region_t();
  }
  return thread->th.th_hierbar_region;
}

void __kmp_hierbar_free_region(kmp_info_t *thread) {
  if (thread->th.th_hierbar_region != NULL)
    __kmp_free(thread->th.th_hierbar_region);
  thread->th.th_hierbar_region = NULL;
  thread->th.th_hierbar_may_repeat = false;
}

unsigned __kmp_hierbar_region_size(int gtid) {
  return __kmp_threads[gtid]->th.th_hierbar_region->nproc;
}

// Something looks on that expects to see each step of libomp's.
static bool is_observed() {
#if OMPT_SUPPORT
  if (ompt_enabled.enabled)
    return true;
#endif
#if OMPD_SUPPORT
  if (ompd_state & OMPD_ENABLE_BP)
    return true;
#endif
#if USE_ITT_BUILD
  if (__itt_sync_create_ptr != NULL || __itt_stack_caller_create_ptr != NULL || KMP_ITT_DEBUG)
    return true;
#if USE_ITT_NOTIFY
  if (__itt_frame_submit_v3_ptr != NULL || __itt_frame_begin_v3_ptr != NULL)
    return true;
#endif
#endif
  return __kmp_hierbar_barrier_calls_offload();
}

// Whether a setting wants each region to do more than run.
static bool is_debugged() {
  bool result = __kmp_tasking_mode != tskm_task_teams || __kmp_env_consistency_check ||
                __kmp_display_affinity;
#if KMP_AFFINITY_SUPPORTED
  result = result || (__kmp_affinity.flags.reset && !__kmp_hierbar_primary_is_free);
#endif
  return result;
}

static kmp_hierbar_reason_t find_obstacle(const kmp_info_t *primary, const kmp_team_t *team) {
  const kmp_root_t *root = primary->th.th_root;
  const kmp_taskdata_t *outer = team->t.t_implicit_task_taskdata[0].td_parent;
  if (is_observed())
    return kmp_hierbar_observed;
  if (is_debugged())
    return kmp_hierbar_debugging_settings;
  if (__kmp_stkpadding > 0)
    return kmp_hierbar_padded_stack;
  if (primary->th.th_hot_teams == NULL || primary->th.th_hot_teams[0].hot_team != team)
    return kmp_hierbar_no_hot_team;
  if (primary->th.th_teams_microtask != NULL || primary->th.th_gomp_base != NULL)
    return kmp_hierbar_in_teams;
  if (team->t.t_parent != root->r.r_root_team || team->t.t_level != 1 ||
      team->t.t_active_level != 1)
    return kmp_hierbar_is_nested;
  if (outer->td_flags.tasktype != TASK_IMPLICIT)
    return kmp_hierbar_in_a_task;
  if (outer->td_icvs.dynamic)
    return kmp_hierbar_dynamic_size;
  if (team->t.t_nested_nth != team->t.t_parent->t.t_nested_nth)
    return kmp_hierbar_strict_size;
  if (team->t.t_size_changed != 0) // libomp takes notice of that in the next fork
    return kmp_hierbar_other_size;
  return kmp_hierbar_unchanged;
}

static void fill(kmp_hierbar_region_t *region, const kmp_info_t *primary, kmp_team_t *team) {
  region->team = team;
  region->parent = team->t.t_parent;
  region->outer_task = team->t.t_implicit_task_taskdata[0].td_parent;
  region->nproc = team->t.t_nproc;
  region->proc_bind = team->t.t_proc_bind;
  region->changes = primary->th.th_hierbar_changes;
  region->settings = __kmp_hierbar_settings_count.load(std::memory_order_relaxed);
  region->outer_icvs = region->outer_task->td_icvs;
  region->allocator = team->t.t_def_allocator;
#if KMP_AFFINITY_SUPPORTED
  region->first_place = primary->th.th_first_place;
  region->last_place = primary->th.th_last_place;
#endif
  region->icvs = team->t.t_implicit_task_taskdata[0].td_icvs;
  region->fp_control.keep(team);
}

void __kmp_hierbar_record_region(kmp_team_t *team) {
  kmp_info_t *primary = team->t.t_threads[0];
  bool is_possible = false;
  if (__kmp_hierbar_lean_regions && team == primary->th.th_root->r.r_hot_team) {
    kmp_hierbar_region_t *region = record_of(primary);
    region->impossible = find_obstacle(primary, team);
    is_possible = region->impossible == kmp_hierbar_unchanged;
    if (is_possible)
      fill(region, primary, team);
    primary->th.th_hierbar_may_repeat = is_possible;
  }
  KMP_CHECK_UPDATE(team->t.t_hierbar->worker_records, is_possible); // a line that all read
}

void __kmp_hierbar_record_region_of_worker(kmp_info_t *this_thr, kmp_team_t *team) {
  if (!team->t.t_hierbar->worker_records) {
    // The words of an earlier region must not be restored in this one, where the thread runs tasks
    // in its waits.
    if (this_thr->th.th_hierbar_region != NULL)
      this_thr->th.th_hierbar_region->fp_control.forget();
    return;
  }
  kmp_hierbar_region_t *region = record_of(this_thr);
  region->impossible = kmp_hierbar_is_nested; // as a primary
  region->allocator = team->t.t_def_allocator;
  region->icvs = this_thr->th.th_bar[bs_forkjoin_barrier].bb.th_fixed_icvs;
  region->task_teams[0] = team->t.t_task_team[0];
  region->task_teams[1] = team->t.t_task_team[1];
  region->fp_control.keep(team);
}

// The order decides only which of several reasons is told.
static kmp_hierbar_reason_t reason_of(const kmp_info_t *thread, kmp_int32 argc) {
  const kmp_hierbar_region_t *region = thread->th.th_hierbar_region;
  const kmp_root_t *root = thread->th.th_root;
  if (root == NULL || root->r.r_uber_thread != thread || thread->th.th_team != root->r.r_root_team)
    return thread->th.th_teams_microtask != NULL || thread->th.th_gomp_base != NULL
               ? kmp_hierbar_in_teams
               : kmp_hierbar_is_nested;
  if (region == NULL) // without hot teams none is ever made
    return __kmp_hot_teams_max_level == 0 ? kmp_hierbar_no_hot_team : kmp_hierbar_is_first;
  if (region->impossible != kmp_hierbar_unchanged)
    return region->impossible;
  const kmp_team_t *team = region->team;
  const kmp_internal_control_t &icvs = thread->th.th_current_task->td_icvs;
  if (argc > KMP_HIERBAR_MAX_ARGS)
    return kmp_hierbar_many_arguments;
  if (__kmp_pause_status != kmp_not_paused)
    return kmp_hierbar_paused;
  if (__kmp_hierbar_settings_count.load(std::memory_order_relaxed) != region->settings)
    return kmp_hierbar_other_settings;
  if (__kmp_hierbar_asks_for_more(thread))
    return kmp_hierbar_strict_size;
  if (thread->th.th_current_task != region->outer_task)
    return kmp_hierbar_in_a_task;
  if (team->t.t_cancel_request.load(std::memory_order_relaxed) != cancel_noreq)
    return kmp_hierbar_cancelled;
  if (thread->th.th_def_allocator != region->allocator)
    return kmp_hierbar_other_allocator;
  if (region->fp_control.differ() != 0)
    return kmp_hierbar_other_fp_control;
  const int asked = thread->th.th_set_nproc != 0 ? thread->th.th_set_nproc : icvs.nproc;
  if (asked != region->nproc || team->t.t_nproc != region->nproc || team->t.t_size_changed != 0)
    return kmp_hierbar_other_size;
  if (memcmp(&icvs, &region->outer_icvs, sizeof(icvs)) != 0)
    return kmp_hierbar_other_icvs;
  if (__kmp_hierbar_barrier_calls_offload())
    return kmp_hierbar_observed;
  return team->t.t_level != 1 || team->t.t_active_level != 1 ? kmp_hierbar_in_teams
                                                             : kmp_hierbar_other_places;
}

void __kmp_hierbar_find_reason(const kmp_info_t *thread, kmp_int32 argc) {
  last_reason.store(reason_of(thread, argc), std::memory_order_relaxed);
}

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The lean region itself, in its primary and in its workers. The numbers are those of the steps in
// kmp_hierbar_region.h.

#include "libomp/region/kmp_hierbar_region.h"

#include <string.h>

#include "kmp_wait_release.h"
#include "base/arch/memory.hpp"
#include "libomp/barrier/kmp_hierbar_phases.h"
#include "libomp/kmp_hierbar_compat.h"
#include "libomp/kmp_hierbar_placement.h"
#include "libomp/region/kmp_hierbar_payload.h"

// ---- 1. whether a region is like the one before, whose record this is ----
//
// What a region does is decided by its call, by where the thread is, by the floating-point control
// words, which a program sets without the runtime, and by what functions of the runtime have set.
// Each of those functions counts: in th_hierbar_changes of the thread that calls it, if it concerns
// this thread's regions, else in __kmp_hierbar_settings_count. So the counts stand for all that
// they set, and what is compared here does not grow with the runtime.
//
// A thread's count says that something has been set, and not that it is another value: programs set
// the number of threads before each region. Then all values are compared (keeps_values()), and if
// they are the same, the region is lean. What has no value to compare counts for all threads, or is
// refused there. Where LLVM's assertions are on, the values are compared always.

static inline kmp_uint64 differ(const void *a, const void *b) {
  return (kmp_uint64)a ^ (kmp_uint64)b;
}
static inline kmp_uint64 differ(kmp_uint32 a, kmp_uint32 b) { return a ^ b; }

// Branch-free: all loads are issued before a single branch, so that their misses overlap.
static inline bool is_unchanged(const kmp_info_t *thread, const kmp_hierbar_region_t *region,
                                kmp_int32 argc) {
  const kmp_internal_control_t &icvs = region->outer_icvs;
  const int nproc = thread->th.th_set_nproc != 0 ? thread->th.th_set_nproc : icvs.nproc;
  const kmp_proc_bind_t asked_bind = thread->th.th_set_proc_bind;
  const bool binds = icvs.proc_bind != proc_bind_false && asked_bind != proc_bind_default;
  // The counts.
  kmp_uint64 d = differ(thread->th.th_hierbar_changes, region->changes);
  d |= differ(__kmp_hierbar_settings_count.load(std::memory_order_relaxed), region->settings);
  d |= region->fp_control.differ();
  // Where the thread is.
  d |= differ(thread->th.th_team, region->parent) |
       differ(thread->th.th_current_task, region->outer_task);
  d |= differ((void *)thread->th.th_teams_microtask, NULL) | differ(thread->th.th_gomp_base, NULL);
  // What the call asks for.
  d |=
      differ(nproc, region->nproc) | differ(binds ? asked_bind : icvs.proc_bind, region->proc_bind);
  d |= __kmp_hierbar_asks_for_more(thread) | __kmp_hierbar_barrier_calls_offload();
  return d == 0 && argc <= KMP_HIERBAR_MAX_ARGS;
}

// Whether all that the thread's count stands for is as it was.
static inline bool keeps_values(const kmp_info_t *thread, const kmp_hierbar_region_t *region) {
  const kmp_team_t *team = region->team;
  bool result = memcmp(&thread->th.th_current_task->td_icvs, &region->outer_icvs,
                       sizeof(region->outer_icvs)) == 0;
  result = result && thread->th.th_def_allocator == region->allocator;
  result = result && team->t.t_nproc == region->nproc && team->t.t_size_changed == 0;
  result = result && team->t.t_parent == region->parent && team->t.t_level == 1 &&
           team->t.t_active_level == 1;
  result = result && team->t.t_cancel_request.load(std::memory_order_relaxed) == cancel_noreq;
#if KMP_AFFINITY_SUPPORTED
  result = result && team->t.t_proc_bind == region->proc_bind;
  result = result && thread->th.th_first_place == team->t.t_first_place &&
           thread->th.th_last_place == team->t.t_last_place;
#endif
  return result && __kmp_pause_status == kmp_not_paused;
}

// ---- what everybody does ----

typedef void (*function_0_t)(int *, int *);
typedef void (*function_1_t)(int *, int *, void *);
typedef void (*function_2_t)(int *, int *, void *, void *);
typedef void (*function_3_t)(int *, int *, void *, void *, void *);
typedef void (*function_4_t)(int *, int *, void *, void *, void *, void *);
typedef void (*function_5_t)(int *, int *, void *, void *, void *, void *, void *);

// __kmp_invoke_microtask() copies the arguments to the stack, whatever their number.
static inline void call(const kmp_hierbar_payload_t &payload, int gtid, int tid) {
  void *const *a = payload.args;
  switch (payload.argc) {
  case 0:
    return ((function_0_t)payload.microtask)(&gtid, &tid);
  case 1:
    return ((function_1_t)payload.microtask)(&gtid, &tid, a[0]);
  case 2:
    return ((function_2_t)payload.microtask)(&gtid, &tid, a[0], a[1]);
  case 3:
    return ((function_3_t)payload.microtask)(&gtid, &tid, a[0], a[1], a[2]);
  case 4:
    return ((function_4_t)payload.microtask)(&gtid, &tid, a[0], a[1], a[2], a[3]);
  default:
    return ((function_5_t)payload.microtask)(&gtid, &tid, a[0], a[1], a[2], a[3], a[4]);
  }
}

// As __kmp_init_implicit_task() leaves it, but for what a program cannot change. The source
// location is not passed on: nothing but traces reads it.
static inline void renew_task(kmp_taskdata_t *task, const kmp_internal_control_t &icvs) {
  kmp_tasking_flags_t flags = {};
  flags.tiedness = TASK_TIED;
  flags.tasktype = TASK_IMPLICIT;
  flags.proxy = TASK_FULL;
  flags.task_serial = 1;
  flags.started = 1;
  flags.executing = 1;
  task->td_flags = flags;
  task->td_ident = NULL;
  task->td_taskwait_ident = NULL;
  task->td_taskwait_counter = 0;
  task->td_taskwait_thread = 0;
  task->td_depnode = NULL;
  task->td_last_tied = task;
  task->td_allow_completion_event.type = KMP_EVENT_UNINITIALIZED;
  task->td_icvs = icvs;
}

// As __kmp_run_before_invoked_task().
static inline void forget_constructs(kmp_info_t *this_thr) {
  this_thr->th.th_local.this_construct = 0;
  this_thr->th.th_dispatch->th_disp_index = 0;
  this_thr->th.th_dispatch->th_doacross_buf_idx = 0;
}

static inline void run(kmp_info_t *this_thr, const kmp_hierbar_payload_t &payload, int gtid,
                       int tid) {
  forget_constructs(this_thr);
  call(payload, gtid, tid);
  if (UNLIKELY(this_thr->th.th_current_task->td_dephash != NULL ||
               __kmp_hierbar_barrier_calls_offload()))
    __kmp_finish_implicit_task(this_thr);
}

// 4.
static inline void join(kmp_info_t *this_thr, const kmp_team_t *team, int gtid, int tid) {
  if (__kmp_dflt_blocktime != KMP_MAX_BLOCKTIME)
    this_thr->th.th_team_bt_intervals = KMP_BLOCKTIME_INTERVAL(team, tid);
  __kmp_hierbar_gather(bs_forkjoin_barrier, this_thr, gtid, tid, NULL USE_ITT_BUILD_ARG(NULL));
}

// ---- the primary ----

// Resets team state that workers may read before the primary has set up its own.
static inline void renew_team(kmp_team_t *team, kmp_root_t *root) {
  if (team->t.t_construct.load(std::memory_order_relaxed) != 0)
    team->t.t_construct.store(0, std::memory_order_relaxed);
  KMP_CHECK_UPDATE(team->t.t_ordered.dt.t_value, 0);
  // A team whose primary has met no such loop has met none. (Cancelled regions do not come here.)
  const kmp_disp_t *dispatch = &team->t.t_dispatch[0];
  if (dispatch->th_disp_index != 0 || dispatch->th_doacross_buf_idx != 0) {
    for (int i = 0; i < __kmp_dispatch_num_buffers; ++i) {
      team->t.t_disp_buffer[i].buffer_index = i;
      team->t.t_disp_buffer[i].doacross_buf_idx = i;
    }
  }
  root->r.r_in_parallel.store(1, std::memory_order_relaxed);
  root->r.r_active = TRUE;
}

// The thread becomes the team's primary. The task team of the last region stays for those who still
// wait for this one; the other is made ready, as __kmp_fork_barrier() does.
static inline void enter_task_team(kmp_info_t *this_thr, kmp_team_t *team,
                                   const kmp_hierbar_region_t *region) {
  const kmp_uint8 last = region->task_state, next = (kmp_uint8)(1 - last);
  const kmp_task_team_t *task_team = team->t.t_task_team[next];
  this_thr->th.th_task_state = last;
  if (!TCR_4(task_team->tt.tt_active) || task_team->tt.tt_nproc != region->nproc)
    __kmp_task_team_setup(this_thr, team);
  this_thr->th.th_task_state = next;
  TCW_PTR(this_thr->th.th_task_team, team->t.t_task_team[next]);
}

// After the release: nobody else needs it.
static inline void enter_team(kmp_info_t *this_thr, kmp_team_t *team,
                              const kmp_hierbar_region_t *region, ident_t *loc,
                              const kmp_hierbar_payload_t &payload) {
  // For debuggers.
  KMP_CHECK_UPDATE(team->t.t_ident, loc);
  KMP_CHECK_UPDATE(team->t.t_pkfn, payload.microtask);
  KMP_CHECK_UPDATE(team->t.t_argc, payload.argc);
  for (int i = 0; i < payload.argc; ++i)
    KMP_CHECK_UPDATE(team->t.t_argv[i], payload.args[i]);

  kmp_taskdata_t *task = &team->t.t_implicit_task_taskdata[0];
  region->outer_task->td_flags.executing = 0;
  task->td_parent = region->outer_task;
  renew_task(task, region->icvs);
  this_thr->th.th_set_nproc = 0;
  this_thr->th.th_set_proc_bind = proc_bind_default;
  this_thr->th.th_ident = loc;
  this_thr->th.th_team = team;
  this_thr->th.th_team_nproc = region->nproc;
  this_thr->th.th_team_serialized = FALSE;
  this_thr->th.th_dispatch = &team->t.t_dispatch[0];
  this_thr->th.th_current_task = task;
#if KMP_AFFINITY_SUPPORTED
  this_thr->th.th_first_place = region->first_place;
  this_thr->th.th_last_place = region->last_place;
#endif
}

// As __kmp_join_call().
static inline void leave_team(kmp_info_t *this_thr, kmp_team_t *team, kmp_hierbar_region_t *region,
                              kmp_uint8 outer_state) {
  kmp_team_t *parent = region->parent;
  kmp_root_t *root = this_thr->th.th_root;
  this_thr->th.th_dispatch = &parent->t.t_dispatch[0];
  this_thr->th.th_current_task = region->outer_task;
  this_thr->th.th_team = parent;
  this_thr->th.th_team_nproc = parent->t.t_nproc;
  this_thr->th.th_team_serialized = parent->t.t_serialized;
  this_thr->th.th_def_allocator = region->allocator;
#if KMP_AFFINITY_SUPPORTED
  this_thr->th.th_first_place = team->t.t_first_place;
  this_thr->th.th_last_place = team->t.t_last_place;
#endif
  this_thr->th.th_task_state = outer_state;
  this_thr->th.th_task_team = parent->t.t_task_team[outer_state];
  root->r.r_in_parallel.store(0, std::memory_order_relaxed);
  root->r.r_active = FALSE;
  region->outer_task->td_flags.executing = 1;
}

// Something has been set since the record was made, perhaps to the value that it had.
[[gnu::noinline]] static bool comes_out_the_same(const kmp_info_t *thread,
                                                 kmp_hierbar_region_t *region, kmp_int32 argc) {
  if (thread->th.th_hierbar_changes == region->changes ||
      thread->th.th_current_task != region->outer_task || !keeps_values(thread, region))
    return false;
  region->changes = thread->th.th_hierbar_changes;
  return is_unchanged(thread, region, argc);
}

bool __kmp_hierbar_run_region(ident_t *loc, int gtid, kmp_int32 argc, microtask_t microtask,
                              void **args) {
  kmp_info_t *this_thr = __kmp_threads[gtid];
  kmp_hierbar_region_t *region = this_thr->th.th_hierbar_region;
  // 1.
#if KMP_AFFINITY_SUPPORTED
  if (__kmp_hierbar_primary_is_free)
    __kmp_hierbar_bring_primary(gtid);
#endif
  kmp_team_t *team = region->team;
  hierbar::prefetch_for_write(&team->t.t_threads[1]->th.th_bar[bs_forkjoin_barrier].bb.b_go);
  if (!is_unchanged(this_thr, region, argc) && !comes_out_the_same(this_thr, region, argc)) {
    __kmp_hierbar_note_decline(this_thr, argc);
    return false;
  }
  KMP_DEBUG_ASSERT(keeps_values(this_thr, region));
  KMP_DEBUG_ASSERT(!this_thr->th.th_root->r.r_active && !this_thr->th.th_root->r.r_in_parallel);
  const int this_construct = this_thr->th.th_local.this_construct;
  const kmp_uint8 outer_state = this_thr->th.th_task_state;
  kmp_hierbar_payload_t payload = {};
  memcpy(payload.args, args, sizeof(payload.args)); // all, because their number is not known here
  payload.argc = argc;
  payload.microtask = microtask;
  renew_team(team, this_thr->th.th_root);
  enter_task_team(this_thr, team, region);
  // 2.
  __kmp_hierbar_release_region(team, region->nproc, 0, payload);
  // 3.
  enter_team(this_thr, team, region, loc, payload);
  run(this_thr, payload, gtid, 0);
  // 4. What the function did to the control words is undone while the workers are still busy.
  region->fp_control.restore();
  join(this_thr, team, gtid, 0);
  __kmp_task_team_wait(this_thr, team USE_ITT_BUILD_ARG(NULL));
  if (UNLIKELY(this_thr->th.th_task_team == NULL)) // it may have run tasks
    region->fp_control.restore();
  ++team->t.t_hierbar->counts.lean;
  leave_team(this_thr, team, region, outer_state);
  this_thr->th.th_local.this_construct = this_construct;
  return true;
}

// ---- a worker ----

// A function that reduced by atomic operations will do so again, in one of the variables that it is
// given. The worker fetches them while it gets ready: else its compiled code would read the line
// first and ask for the right to write it afterwards, both while the primary waits.
static inline void expect_additions(const kmp_hierbar_region_t *region,
                                    const kmp_hierbar_payload_t &payload) {
  if (payload.microtask == region->adder)
    for (int i = 0; i < payload.argc; ++i)
      hierbar::prefetch_for_write(payload.args[i]);
}

static inline void remember_additions(const kmp_info_t *this_thr, kmp_hierbar_region_t *region,
                                      microtask_t microtask) {
  if (this_thr->th.th_local.packed_reduction_method == atomic_reduce_block)
    region->adder = microtask;
}

bool __kmp_hierbar_run_released_region(kmp_info_t *this_thr, int gtid) {
  kmp_bstate_t *thr_bar = &this_thr->th.th_bar[bs_forkjoin_barrier].bb;
  kmp_hierbar_payload_t payload;
  if (!__kmp_hierbar_take(&payload, thr_bar))
    return false;
  hierbar::prefetch_for_write(&thr_bar->b_arrived);
  kmp_team_t *team = this_thr->th.th_team;
  kmp_hierbar_region_t *region = this_thr->th.th_hierbar_region;
  const int tid = this_thr->th.th_info.ds.ds_tid;
  expect_additions(region, payload);
  // 2.
  __kmp_hierbar_release_region(team, this_thr->th.th_team_nproc, tid, payload);
  // 3.
  const kmp_uint8 task_state = (kmp_uint8)(1 - this_thr->th.th_task_state);
  this_thr->th.th_task_state = task_state;
  TCW_PTR(this_thr->th.th_task_team, region->task_teams[task_state]);
  this_thr->th.th_def_allocator = region->allocator;
  renew_task(this_thr->th.th_current_task, region->icvs);
  this_thr->th.th_local.packed_reduction_method = reduction_method_not_defined;
  run(this_thr, payload, gtid, tid);
  remember_additions(this_thr, region, payload.microtask);
  // 4.
  join(this_thr, team, gtid, tid);
  return true;
}

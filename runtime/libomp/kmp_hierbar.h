// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_H
#define KMP_HIERBAR_H

// Everything that the patch to libomp calls. The patch holds the calls and nothing else; what they
// do is in this folder.
//
//   kmp_settings.cpp   the table entry of KMP_BARRIER
//     __kmp_stg_parse_hierbar, __kmp_stg_print_hierbar
//     __kmp_hierbar_settings_done       after all variables have been read
//   kmp_runtime.cpp
//     __kmp_hierbar_prepare             the primary, before it releases a fork; all workers wait
//     __kmp_hierbar_free_team           when a team structure is freed
//     __kmp_hierbar_finish              the library is cleaned up: report, forget
//     __kmp_hierbar_free_region         when a thread is freed
//     __kmp_hierbar_settings_changed    the library's mode or its pause has changed
//   kmp_barrier.cpp
//     __kmp_hierbar_unobserved_barrier  a plain barrier where no tool looks on
//     __kmp_hierbar_stamped_barrier     a plain barrier where a tool may have asked for stamps
//     __kmp_hierbar_gather              one phase, like the other patterns
//     __kmp_hierbar_release
//     __kmp_hierbar_count_stock         before libomp's own cancellable barrier
//     __kmp_hierbar_lean_regions        an assertion about b_go does not hold with them
//   kmp_csupport.cpp
//     __kmp_hierbar_explicit_barrier    before anything else is done for an explicit barrier
//     __kmp_hierbar_region              a parallel region, if it is like the one before
//   kmp_gsupport.cpp
//     __kmp_hierbar_gomp_region         the same
//   kmp_affinity.cpp
//     __kmp_hierbar_place               the cpus that libomp takes for the machine
//     __kmp_hierbar_place_number        the place of a new thread
//   kmp.h
//     __kmp_hierbar_bring_primary       the primary goes to its place
//     __kmp_hierbar_yield_in_wait       a waiting thread yields, or naps when it has waited for long
//   z_Linux_util.cpp
//     __kmp_hierbar_yield               a waiting thread gives its cpu to others
//   and what waits/kmp_hierbar_waits.h (tasks) and waits/kmp_hierbar_critical.h (locks) list
//   ompt-general.cpp
//     __kmp_hierbar_tool_lookup         a name that OMPT does not know
//   and what process/kmp_hierbar_process.h lists: fork(), threads that come and go, other runtimes,
//   the end

#include "kmp.h"
#include "kmp_hierbar_compat.h"
#include "kmp_itt.h"
#if OMPT_SUPPORT
#include "ompt-internal.h"
#endif
#include "process/kmp_hierbar_process.h"

struct kmp_hierbar_team;

// True once KMP_BARRIER=hier has been accepted and libhierbar.so is there. Written while libomp is
// initialised.
extern bool __kmp_hierbar_enabled;

void __kmp_stg_parse_hierbar(char const *name, char const *value, void *data);
void __kmp_stg_print_hierbar(kmp_str_buf_t *buffer, char const *name, void *data);
void __kmp_hierbar_settings_done();

#if KMP_AFFINITY_SUPPORTED
// Replaces __kmp_affin_fullMask by this rank's share of the node, if there is one and nothing
// speaks against it. Under HIERBAR_BIND=share, without cpus of the process's own, `affinity` becomes
// that of KMP_AFFINITY=none.
void __kmp_hierbar_place(kmp_affinity_t &affinity);

// Which place a new thread gets, in a list that begins anew at its end. `number` is LLVM's answer.
int __kmp_hierbar_place_number(int gtid, int number, int num_places);

// HIERBAR_PRIMARY=free, where it can be obeyed. Written while libomp is initialised.
extern bool __kmp_hierbar_primary_is_free;

// A thread that may begin a region, or asks for its place: gives it one, and moves it there if it
// runs elsewhere. A thread inside a region, or of somebody's team, stays where it is.
void __kmp_hierbar_bring_primary(int gtid);
#endif

void __kmp_hierbar_prepare(kmp_team_t *team);
void __kmp_hierbar_free_team(kmp_team_t *team);
void __kmp_hierbar_finish();

// A barrier from beginning to end. Serves a plain, unsplit one without a reduction whose team does
// not need the primary for more than tasks. Returns the value of __kmp_barrier (0 primary, 1
// worker), or KMP_HIERBAR_NOT_SERVED: the caller runs gather and release. The answer is the same
// for the whole team. There are three, by who looks on:
#define KMP_HIERBAR_NOT_SERVED (-1)

// Nobody.
int __kmp_hierbar_unobserved_barrier(enum barrier_type bt, int gtid, int is_split, void (*reduce)(void *, void *));

// A tool, which may have asked for stamps (trace/stamps.h). OMPT's callbacks are the caller's.
int __kmp_hierbar_stamped_barrier(enum barrier_type bt, int gtid, int is_split, void (*reduce)(void *, void *));

// A tool that wants the barrier reported by hierbar_trace_interface.observe, and needs nothing else
// that OMPT keeps up around a barrier. Returns false when the barrier is not served, or when there
// is no such tool.
bool __kmp_hierbar_reported_barrier(ident_t *loc, int gtid, void *address);

// What a tool's lookup function returns for a name that is not OMPT's: a function, or NULL.
void (*__kmp_hierbar_tool_lookup(const char *name))(void);

// True when a barrier may be served before __kmp_barrier_template is entered: no tool and no
// offload runtime looks on.
static inline bool __kmp_hierbar_is_unobserved() {
#if OMPT_SUPPORT
  if (ompt_enabled.enabled)
    return false;
#endif
  return __kmp_hierbar_enabled && !__kmp_hierbar_barrier_calls_offload();
}

// An explicit barrier, or one that the compiler has put in: by one of the three above. `address` is
// where it returns to. False: not served.
static inline bool __kmp_hierbar_explicit_barrier(ident_t *loc, int gtid, void *address) {
#if OMPT_SUPPORT && OMPT_OPTIONAL
  if (ompt_enabled.enabled)
    return !__kmp_hierbar_barrier_calls_offload() && __kmp_hierbar_reported_barrier(loc, gtid, address);
#endif
  return __kmp_hierbar_is_unobserved() &&
         __kmp_hierbar_unobserved_barrier(bs_plain_barrier, gtid, FALSE, NULL) != KMP_HIERBAR_NOT_SERVED;
}

// HIERBAR_REGION, under KMP_BARRIER=hier. Written while libomp is initialised.
extern bool __kmp_hierbar_lean_regions;

// Arguments that fit into the line of b_go.
#define KMP_HIERBAR_MAX_ARGS 5

// HIERBAR_VERBOSE
extern bool __kmp_hierbar_verbose;

// For the report: why the region that begins goes libomp's way.
void __kmp_hierbar_find_reason(const kmp_info_t *thread, kmp_int32 argc);
static inline void __kmp_hierbar_note_decline(const kmp_info_t *thread, kmp_int32 argc) {
  if (UNLIKELY(__kmp_hierbar_verbose))
    __kmp_hierbar_find_reason(thread, argc);
}

// False where the region that begins is nested or has no record that it could be like. Asked first,
// so that these regions lose no time here.
static inline bool __kmp_hierbar_may_repeat(int gtid, kmp_int32 argc) {
  const kmp_info_t *thread = __kmp_threads[gtid];
  if (thread->th.th_hierbar_may_repeat && thread->th.th_team == thread->th.th_root->r.r_root_team)
    return true;
  __kmp_hierbar_note_decline(thread, argc);
  return false;
}

// Runs a parallel region from its fork to its join, and returns true, if it is like the one before
// (region/kmp_hierbar_region.h). False: nothing has been done, the region goes libomp's way. `args`
// holds KMP_HIERBAR_MAX_ARGS pointers, the first `argc` of which are arguments. To be called where
// __kmp_hierbar_may_repeat().
bool __kmp_hierbar_run_region(ident_t *loc, int gtid, kmp_int32 argc, microtask_t microtask, void **args);

static inline bool __kmp_hierbar_region(ident_t *loc, int gtid, kmp_int32 argc, microtask_t microtask, kmp_va_list ap) {
  if (!__kmp_hierbar_may_repeat(gtid, argc))
    return false;
  void *args[KMP_HIERBAR_MAX_ARGS] = {};
  for (int i = 0; i < argc && i < KMP_HIERBAR_MAX_ARGS; ++i)
    args[i] = va_arg(kmp_va_deref(ap), void *);
  return __kmp_hierbar_run_region(loc, gtid, argc, microtask, args);
}

// The size of the last region that the thread ran in this way.
unsigned __kmp_hierbar_region_size(int gtid);

// For the entry points of GCC's programs. Returns the number of threads; 0: not run.
static inline unsigned __kmp_hierbar_gomp_region(ident_t *loc, int gtid, unsigned num_threads, unsigned proc_bind,
                                                 microtask_t microtask, void (*task)(void *), void *data) {
  if (!__kmp_hierbar_lean_regions || !__kmp_hierbar_may_repeat(gtid, 2))
    return 0;
  if (num_threads != 0)
    __kmp_push_num_threads(loc, gtid, num_threads);
  if (proc_bind != 0)
    __kmp_push_proc_bind(loc, gtid, (kmp_proc_bind_t)proc_bind);
  void *args[KMP_HIERBAR_MAX_ARGS] = {(void *)task, data};
  return __kmp_hierbar_run_region(loc, gtid, 2, microtask, args) ? __kmp_hierbar_region_size(gtid) : 0;
}

void __kmp_hierbar_free_region(kmp_info_t *thread);

// Something has changed that concerns all threads' regions. What concerns the calling thread's only
// counts in its th_hierbar_changes; which functions do is in patches/<version>/0011-changes.patch.
void __kmp_hierbar_settings_changed();

// sched_yield(), with an eye on others who want the cpu (waits/kmp_hierbar_contention.h).
void __kmp_hierbar_yield();

// The same in a wait that is polled: after a while the thread naps in place of yielding
// (waits/kmp_hierbar_waits.h). `since` is __kmp_pause_init when the wait begins, then when it began.
// Without KMP_BARRIER=hier: __kmp_yield().
void __kmp_hierbar_yield_in_wait(kmp_uint64 *since);

// Counts an episode of libomp's own cancellable barrier.
void __kmp_hierbar_count_stock(kmp_team_t *team, int tid);

void __kmp_hierbar_gather(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                          void (*reduce)(void *, void *) USE_ITT_BUILD_ARG(void *itt_sync_obj));
void __kmp_hierbar_release(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                           int propagate_icvs USE_ITT_BUILD_ARG(void *itt_sync_obj));

#endif // KMP_HIERBAR_H

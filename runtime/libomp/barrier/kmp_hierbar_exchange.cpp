// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A plain barrier as one exchange on the engine, for teams that do not need the primary in every
// barrier.
//
// Steps:
//   1. A thread arrives with one payload bit: its task team has tasks, or may still get some.
//   2. The exchange tells every thread the OR of these bits. If it is 0, the barrier is over.
//   3. Otherwise the exchange has been the gather. The primary does what stands between gather and
//      release in __kmp_barrier_template: it waits for the tasks. The others wait on b_go with
//      final_spin, where they run tasks and leave the task team. Then all are released along the
//      plan (kmp_hierbar_phases.cpp).
//
// Why it is enough to read the task team on arrival:
//
//   Announced. A task enters a deque only after tt_found_tasks of the creator's task team is set,
//   by the creator or seen set by it (__kmp_push_task), and proxy and hidden-helper tasks set their
//   own mark as well. So a thread that made a task arrives with the bit, and the exchange tells
//   everybody. Tasks made by tasks that run during the barrier belong to a team whose bit is up
//   already. The marks stay until the task team is set up anew, so a barrier after a taskwait takes
//   step 3 too.
//
//   Not waited for. After step 2 nobody has called __kmp_task_team_setup, _wait or _sync. The task
//   team then keeps what _setup gave it: tt_active, tt_found_tasks == FALSE, tt_unfinished_threads
//   == tt_nproc, and every th_task_team and th_task_state still name it. It is what these functions
//   leave behind, one barrier older. The next barrier with step 3, or the join, sets up the other
//   parity, waits for this one and flips, as if the barriers in between had not been.
//
// exchange_allowed is false where more than the tasks would stand between gather and release. A
// team that expects tasks leaves the exchange out (kmp_hierbar_team.h).

#include "libomp/barrier/kmp_hierbar_exchange.h"

#include "libomp/barrier/kmp_hierbar_phases.h"
#include "libomp/barrier/kmp_hierbar_team.h"
#include "libomp/barrier/kmp_hierbar_trace.h"
#include "libomp/kmp_hierbar_caller.h"
#if OMPT_SUPPORT
#include "ompt-specific.h"
#endif

// Payload bit of an arrival: this thread's task team has tasks, or may still get some; or this
// thread is the primary, and wants to release the others itself.
static const kmp_uint32 primary_must_act = 1;

// The team's barrier, or NULL: it has to run as gather and release. A serial team may come from the
// pool, where a parallel team has left its barrier in it.
static inline kmp_hierbar_team_t *exchanging_team(const kmp_team_t *team) {
  kmp_hierbar_team_t *hier = team->t.t_hierbar;
  const bool exchanges = hier != NULL && hier->exchange_allowed && !team->t.t_serialized &&
                         hier->task_expectation < KMP_HIERBAR_TASKS_EXPECTED;
  return exchanges ? hier : NULL;
}

// Body of a barrier with and of one without stamps. Returns the value of __kmp_barrier: 0 primary,
// 1 worker. Inlined always: a call costs 5 % of a barrier of two threads
// (docs/design/waiting.md#d0158).
template <class Trace>
[[gnu::always_inline]] static inline int
run_exchange(kmp_info_t *this_thr, int gtid, kmp_hierbar_team_t *hier, const Trace &trace) {
  kmp_team_t *team = this_thr->th.th_team;
  const int tid = this_thr->th.th_info.ds.ds_tid;
  const bool wants_release = KMP_MASTER_TID(tid) && hier->release_choice.wants_release();
  const kmp_uint32 bits =
      wants_release || __kmp_hierbar_has_tasks(this_thr->th.th_task_team) ? primary_must_act : 0;

  kmp_hierbar_host_t host(this_thr, team, tid USE_ITT_BUILD_ARG(NULL));
  kmp_hierbar_mem_t mem(host);
  const auto crossing = hier->engine.cross(mem, tid, bits, trace);

  const int result = KMP_MASTER_TID(tid) ? 0 : 1;
  if (crossing.bits == 0) { // also where the library shuts down
    if (KMP_MASTER_TID(tid))
      ++hier->counts.fast;
    trace.served(hier);
    return result;
  }
  if (KMP_MASTER_TID(tid)) {
    // A late primary's barrier counts as one with tasks if it has any.
    const bool has_tasks = __kmp_hierbar_has_tasks(this_thr->th.th_task_team);
    ++(wants_release && !has_tasks ? hier->counts.led : hier->counts.slow);
    __kmp_hierbar_remember_tasks(hier, true);
    __kmp_task_team_setup(this_thr, team);
    __kmp_task_team_wait(this_thr, team USE_ITT_BUILD_ARG(NULL));
  }
  __kmp_hierbar_release(bs_plain_barrier, this_thr, gtid, tid, FALSE USE_ITT_BUILD_ARG(NULL));
  __kmp_task_team_sync(this_thr, team);
  return result;
}

// True in a team of one thread whose barrier has nothing to do. Its tasks have run when they were
// made; where one may still be under way (a detached one, or one of a hidden helper), the team has
// a task team.
static inline bool awaits_nobody(const kmp_info_t *this_thr) {
  return this_thr->th.th_team->t.t_serialized && this_thr->th.th_task_team == NULL &&
         __kmp_hierbar_unchecked;
}

// A function of its own, which its callers jump to: only here are registers saved for it.
[[gnu::noinline]] static int run_plain_exchange(kmp_info_t *this_thr, int gtid,
                                                kmp_hierbar_team_t *hier) {
  return run_exchange(this_thr, gtid, hier, kmp_hierbar_untraced_t());
}

int __kmp_hierbar_unobserved_barrier(enum barrier_type bt, int gtid, int is_split,
                                     void (*reduce)(void *, void *)) {
  if (bt != bs_plain_barrier || is_split || reduce != NULL)
    return KMP_HIERBAR_NOT_SERVED;
  kmp_info_t *this_thr = __kmp_threads[gtid];
  kmp_hierbar_team_t *hier = exchanging_team(this_thr->th.th_team);
  if (hier == NULL)
    return awaits_nobody(this_thr) ? 0 : KMP_HIERBAR_NOT_SERVED;
  return run_plain_exchange(this_thr, gtid, hier);
}

// The thread, or NULL: the number is none of a thread, or an observer has to know of the barrier.
static inline kmp_info_t *unobserved_thread(int gtid) {
  const bool is_known = (kmp_uint32)gtid < (kmp_uint32)__kmp_threads_capacity;
  return __kmp_hierbar_is_unobserved() && is_known ? __kmp_threads[gtid] : NULL;
}

bool __kmp_hierbar_is_alone(int gtid) {
  const kmp_info_t *this_thr = unobserved_thread(gtid);
  return this_thr != NULL && awaits_nobody(this_thr);
}

void __kmp_hierbar_enter_barrier(ident_t *loc, int gtid, void *address,
                                 kmp_hierbar_other_barrier_t *otherwise) {
  if (kmp_info_t *this_thr = unobserved_thread(gtid)) {
    if (kmp_hierbar_team_t *hier = exchanging_team(this_thr->th.th_team)) {
      run_plain_exchange(this_thr, gtid, hier);
      return;
    }
    if (awaits_nobody(this_thr))
      return;
  }
  otherwise(loc, gtid, address);
}

[[gnu::noinline]] static int run_stamped_exchange(kmp_info_t *this_thr, int gtid,
                                                  kmp_hierbar_team_t *hier,
                                                  hierbar_phases *phases) {
  return run_exchange(this_thr, gtid, hier, kmp_hierbar_traced_t(phases));
}

int __kmp_hierbar_stamped_barrier(enum barrier_type bt, int gtid, int is_split,
                                  void (*reduce)(void *, void *)) {
  hierbar_phases *phases = __kmp_hierbar_phases();
  if (phases == NULL || bt != bs_plain_barrier || is_split || reduce != NULL)
    return __kmp_hierbar_unobserved_barrier(bt, gtid, is_split, reduce);
  kmp_info_t *this_thr = __kmp_threads[gtid];
  kmp_hierbar_team_t *hier = exchanging_team(this_thr->th.th_team);
  return hier == NULL ? KMP_HIERBAR_NOT_SERVED : run_stamped_exchange(this_thr, gtid, hier, phases);
}

#if OMPT_SUPPORT && OMPT_OPTIONAL
// What __ompt_get_barrier_kind returns for a plain barrier, without its call.
static inline ompt_sync_region_t kind_of(const ident_t *loc) {
  const kmp_int32 flags = loc == NULL ? 0 : loc->flags;
  if ((flags & KMP_IDENT_BARRIER_EXPL) != 0)
    return ompt_sync_region_barrier_explicit;
  return (flags & KMP_IDENT_BARRIER_IMPL) != 0 ? ompt_sync_region_barrier_implicit_workshare
                                               : ompt_sync_region_barrier_implementation;
}

bool __kmp_hierbar_reported_barrier(ident_t *loc, int gtid, void *address) {
  if (__kmp_hierbar_observer.begin == NULL)
    return false;
  kmp_info_t *this_thr = __kmp_threads[gtid];
  kmp_hierbar_team_t *hier = exchanging_team(this_thr->th.th_team);
  if (hier == NULL)
    return false;
  this_thr->th.th_ident = loc;
  if (void *outer = OMPT_LOAD_RETURN_ADDRESS(gtid)) // of a function of libomp that called this one
    address = outer;
  address = __kmp_hierbar_caller(this_thr, address);
  hierbar_phases *phases =
      __kmp_hierbar_observer.begin(kind_of(loc), OMPT_CUR_TASK_DATA(this_thr), address);
  if (phases == NULL) {
    run_plain_exchange(this_thr, gtid, hier);
    return true;
  }
  run_stamped_exchange(this_thr, gtid, hier, phases);
  __kmp_hierbar_observer.end();
  return true;
}
#endif

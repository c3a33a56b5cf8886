// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gather and release with the primary in between: fork and join, reductions, split barriers, and
// plain barriers that have tasks.
//
// Both phases follow the team's plan. They run over libomp's own words in the threads (b_arrived,
// b_go) and not over the engine's lines: a parked worker belongs to no team, and libomp keeps these
// words in step when teams change, and wakes, reaps and pauses threads through them.
//
// Memory ordering. A thread hands over by a fetch-and-add on such a word, which is a full barrier
// on every machine (__sync_fetch_and_add): all that it wrote or read before comes first. The other
// side waits by kmp_flag_64::wait, which ends in a plain load. A processor with weak ordering
// (AArch64, POWER, RISC-V) may have done the loads that follow in the program before that one. So
// each wait is followed by an acquire fence, which costs nothing on x86. Hand-overs are chained
// from a leaf to the primary and back, so each thread sees what all threads before it in the chain
// have written.

#include "libomp/barrier/kmp_hierbar_phases.h"

#include "libomp/barrier/kmp_hierbar_team.h"
#include "libomp/barrier/kmp_hierbar_trace.h"
#include "libomp/barrier/kmp_hierbar_waits.h"
#include "libomp/region/kmp_hierbar_region.h"
#include "libomp/region/kmp_hierbar_region_record.h"

#include "barrier/pass_on.hpp"
#if OMPT_SUPPORT
#include "ompt-specific.h"
#endif

static inline void acquire_after_wait() { std::atomic_thread_fence(std::memory_order_acquire); }

static void combine_child(kmp_info_t *this_thr, int gtid, kmp_info_t *child,
                          void (*reduce)(void *, void *)) {
#if USE_ITT_BUILD && USE_ITT_NOTIFY
  if (__kmp_forkjoin_frames_mode == 2)
    this_thr->th.th_bar_min_time = KMP_MIN(this_thr->th.th_bar_min_time, child->th.th_bar_min_time);
#endif
  if (reduce == NULL)
    return;
  OMPT_REDUCTION_DECL(this_thr, gtid);
  OMPT_REDUCTION_BEGIN;
  (*reduce)(this_thr->th.th_local.reduce_data, child->th.th_local.reduce_data);
  OMPT_REDUCTION_END;
}

static inline void await_child(enum barrier_type bt, kmp_info_t *this_thr, int gtid,
                               kmp_info_t *child, kmp_uint64 arrived,
                               void (*reduce)(void *, void *)
                                   USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
  volatile kmp_uint64 *word = &child->th.th_bar[bt].bb.b_arrived;
  kmp_hierbar_limited_wait_t limited;
  if (!__kmp_hierbar_spin_for(word, arrived, this_thr)) {
    kmp_flag_64<> flag(word, arrived);
    limited.begin(this_thr);
    flag.wait(this_thr, FALSE USE_ITT_BUILD_ARG(itt_sync_obj));
  }
  // (kmp_hierbar_phases.A2) pairs with (A1), the fetch-and-add of the child. Read from here on, of
  // the child and of all below it: what the reduction combines and the users' data. By the primary,
  // from all: the marks of the task team. An old mark would let it release the barrier, or end the
  // region, before the tasks are done.
  acquire_after_wait();
  limited.end();
  combine_child(this_thr, gtid, child, reduce);
}

// After this the team is not touched any more: in a join the primary may already be using it
// otherwise.
static inline void report_arrival(enum barrier_type bt, kmp_info_t *this_thr, kmp_info_t *parent) {
  // (kmp_hierbar_phases.A1) full barrier; pairs with (A2) in await_child
  __kmp_hierbar_hand_over(&this_thr->th.th_bar[bt].bb.b_arrived, parent);
}

// What b_arrived of the others becomes. Asked of the team, not of the own b_arrived: a parent that
// sleeps on that one has its sleep bit in it. Only those who gather may ask: the primary has just
// written that line, and whoever reads it without need arrives the later for it (a region of two
// threads took 682 ns in place of 653).
static inline kmp_uint64 next_arrived(const kmp_team_t *team, enum barrier_type bt) {
  return team->t.t_bar[bt].b_arrived + KMP_BARRIER_STATE_BUMP;
}

// The primary's last step.
static inline void finish_gather(enum barrier_type bt, kmp_info_t *this_thr, kmp_team_t *team,
                                 kmp_uint64 arrived) {
  kmp_hierbar_team_t *hier = team->t.t_hierbar;
  team->t.t_bar[bt].b_arrived = arrived;
  if (bt == bs_forkjoin_barrier)
    __kmp_hierbar_end_of_region(this_thr, team);
  const bool could_exchange = bt == bs_plain_barrier && hier->exchange_allowed;
  const bool had_tasks = could_exchange && __kmp_hierbar_has_tasks(this_thr->th.th_task_team);
  const bool is_led = could_exchange && hier->release_choice.wants_release();
  if (could_exchange)
    __kmp_hierbar_remember_tasks(hier, had_tasks);
  ++(had_tasks ? hier->counts.slow : is_led ? hier->counts.led : hier->counts.phased);
}

// Two threads: nothing is looked up in the plan, and a region takes as long as under hyper (a
// twentieth less than by run_gather).
static inline void gather_pair(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                               void (*reduce)(void *, void *)
                                   USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
  kmp_team_t *team = this_thr->th.th_team;
  if (!KMP_MASTER_TID(tid)) {
    report_arrival(bt, this_thr, team->t.t_threads[0]);
    return;
  }
  const kmp_uint64 arrived = next_arrived(team, bt);
  await_child(bt, this_thr, gtid, team->t.t_threads[1], arrived,
              reduce USE_ITT_BUILD_ARG(itt_sync_obj));
  finish_gather(bt, this_thr, team, arrived);
}

template <class Trace>
[[gnu::noinline]] static void
run_gather(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
           void (*reduce)(void *, void *) USE_ITT_BUILD_ARG(void *itt_sync_obj),
           const Trace &trace) {
  kmp_team_t *team = this_thr->th.th_team;
  kmp_info_t **threads = team->t.t_threads;
  kmp_hierbar_team_t *hier = team->t.t_hierbar;
  KMP_DEBUG_ASSERT(hier->nproc == team->t.t_nproc);
  const kmp_hierbar_engine_t &shape = hier->engine;
  const hierbar_plan_node &node = shape.node(tid);
  const bool gathers = KMP_MASTER_TID(tid) || node.num_children != 0;
  const kmp_uint64 arrived = gathers ? next_arrived(team, bt) : 0;
  const auto gather_from = [&](kmp_uint32 child) {
    await_child(bt, this_thr, gtid, threads[child], arrived,
                reduce USE_ITT_BUILD_ARG(itt_sync_obj));
  };
  for (kmp_uint32 i = 0; i < node.num_children; ++i)
    gather_from(shape.child(node, i));
  if (node.num_children != 0)
    trace.gathered();
  if (!KMP_MASTER_TID(tid)) {
    trace.served(hier);
    report_arrival(bt, this_thr, threads[node.parent == (kmp_uint32)tid ? 0 : node.parent]);
    return;
  }
  for (kmp_uint32 i = 1; i < shape.num_leaders(); ++i)
    gather_from(shape.leader(i));
  trace.released();
  trace.served(hier);
  finish_gather(bt, this_thr, team, arrived);
}

// Plain barriers come here because of tasks. They get no stamps: the time of the tasks would count
// as time in the tree.
void __kmp_hierbar_gather(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                          void (*reduce)(void *, void *) USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
#if USE_ITT_BUILD && USE_ITT_NOTIFY
  if (__kmp_forkjoin_frames_mode == 3 || __kmp_forkjoin_frames_mode == 2)
    this_thr->th.th_bar_arrive_time = this_thr->th.th_bar_min_time = __itt_get_timestamp();
#endif
  hierbar_phases *phases = bt == bs_plain_barrier ? NULL : __kmp_hierbar_phases();
  if (phases != NULL)
    run_gather(bt, this_thr, gtid, tid, reduce USE_ITT_BUILD_ARG(itt_sync_obj),
               kmp_hierbar_traced_t(phases));
  else if (this_thr->th.th_team_nproc == 2)
    gather_pair(bt, this_thr, gtid, tid, reduce USE_ITT_BUILD_ARG(itt_sync_obj));
  else
    run_gather(bt, this_thr, gtid, tid, reduce USE_ITT_BUILD_ARG(itt_sync_obj),
               kmp_hierbar_untraced_t());
}

// ICVs ride along with the release, on the line of b_go; the worker itself puts them where they
// belong.
static void release_one(enum barrier_type bt, kmp_info_t *thread, kmp_internal_control_t *icvs) {
  kmp_bstate_t *thr_bar = &thread->th.th_bar[bt].bb;
  if (icvs != NULL) {
    copy_icvs(&thr_bar->th_fixed_icvs, icvs);
    thr_bar->th_fixed_icvs.next = NULL; // no lean region (region/kmp_hierbar_region.h)
  }
  // (kmp_hierbar_phases.G1) full barrier; pairs with (G2) in await_go
  __kmp_hierbar_hand_over(&thr_bar->b_go, thread);
}

// A worker waits for its own b_go. Between regions it is released for lean ones, too, and runs them
// here. Each of these adds to b_go, and only the ordinary release ends in a reset: a worker that
// wrote the line at the beginning of each region would have to fetch it from the primary before it
// could arrive. Returns false when the library is shutting down and there is no team any more.
static bool await_go(enum barrier_type bt, kmp_info_t *this_thr,
                     int gtid USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
  kmp_bstate_t *thr_bar = &this_thr->th.th_bar[bt].bb;
  kmp_uint64 released = KMP_INIT_BARRIER_STATE;
  kmp_hierbar_fork_wait_t limited;
  do {
    released += KMP_BARRIER_STATE_BUMP;
    if (bt == bs_forkjoin_barrier)
      __kmp_hierbar_restore_fp_control(this_thr);
    if (!__kmp_hierbar_spin_for(&thr_bar->b_go, released, this_thr)) {
      kmp_flag_64<> flag(&thr_bar->b_go, released);
      limited.begin(this_thr);
      flag.wait(this_thr, TRUE USE_ITT_BUILD_ARG(itt_sync_obj));
      if (bt == bs_forkjoin_barrier)
        __kmp_hierbar_restore_fp_control(this_thr); // it may have run tasks
    }
    // (kmp_hierbar_phases.G2) pairs with (G1), the fetch-and-add of the parent, and through it with
    // the primary's; in a lean region with (kmp_hierbar_payload.P1). Written by the primary before
    // and read from here on: whether the library shuts down; the thread's team and number; the
    // engine and its plan; task_expectation, which all must read alike, since one that exchanges
    // never meets those that gather; the task team; the team's b_arrived, of which an old value is
    // the one that a child's word has had since the last episode, so that its parent would not wait
    // for it; the function and arguments of a lean region; the users' data.
    acquire_after_wait();
    limited.end();
  } while (bt == bs_forkjoin_barrier && __kmp_hierbar_run_released_region(this_thr, gtid));
#if USE_ITT_BUILD && USE_ITT_NOTIFY
  if ((__itt_sync_create_ptr && itt_sync_obj == NULL) || KMP_ITT_DEBUG) {
    // In a fork barrier the object could not be had before: end the wait on the previous region,
    // prepare for the new one.
    itt_sync_obj = __kmp_itt_barrier_object(gtid, bs_forkjoin_barrier, 0, -1);
    __kmp_itt_task_starting(itt_sync_obj);
    if (bt == bs_forkjoin_barrier && TCR_4(__kmp_global.g.g_done))
      return false;
    itt_sync_obj = __kmp_itt_barrier_object(gtid, bs_forkjoin_barrier);
    if (itt_sync_obj != NULL)
      __kmp_itt_task_finished(itt_sync_obj);
  } else
#endif
      if (bt == bs_forkjoin_barrier && TCR_4(__kmp_global.g.g_done))
    return false;
  TCW_4(thr_bar->b_go, KMP_INIT_BARRIER_STATE);
  return true;
}

// After a plain barrier the leaders pass the release on as a binary tree, and release their members
// at once. It mostly comes here because of tasks, and threads that come back all at once fight for
// the one deque into which the next producer is about to write (16 threads on 2 cpus, time per task
// to hyper's: at once 1.11, tree of four 1.05, binary 1.03; 8 threads 1.06, 1.00, 0.95).
static inline hierbar::ReleaseWidths release_widths(const kmp_hierbar_team_t *hier,
                                                    enum barrier_type bt) {
  if (bt == bs_plain_barrier)
    return {2, hierbar::kReleaseAtOnce};
  return {hier->release_width, hier->release_width};
}

void __kmp_hierbar_release(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                           int propagate_icvs USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
  if (!KMP_MASTER_TID(tid)) {
    if (!await_go(bt, this_thr, gtid USE_ITT_BUILD_ARG(itt_sync_obj)))
      return;
    hierbar_phases *phases = bt == bs_reduction_barrier ? __kmp_hierbar_phases() : NULL;
    if (phases != NULL)
      kmp_hierbar_traced_t(phases).released();
    tid = __kmp_tid_from_gtid(
        gtid); // in a fork barrier the worker learns only now which team it is in
  }
  kmp_team_t *team = this_thr->th.th_team;
  kmp_info_t **threads = team->t.t_threads;
  const kmp_hierbar_team_t *hier = team->t.t_hierbar;
  kmp_internal_control_t *icvs = NULL;
  if (propagate_icvs)
    icvs = KMP_MASTER_TID(tid) ? &team->t.t_implicit_task_taskdata[0].td_icvs
                               : &this_thr->th.th_bar[bt].bb.th_fixed_icvs;
  hierbar::pass_on(hier->engine, (kmp_uint32)tid, release_widths(hier, bt),
                   [&](kmp_uint32 other) { release_one(bt, threads[other], icvs); });
  // The own implicit task comes after the others, who need not wait for it.
  if (propagate_icvs && !KMP_MASTER_TID(tid)) {
    __kmp_init_implicit_task(team->t.t_ident, this_thr, team, tid, FALSE);
    copy_icvs(&team->t.t_implicit_task_taskdata[tid].td_icvs, icvs);
    __kmp_hierbar_record_region_of_worker(this_thr, team);
  }
}

void __kmp_hierbar_count_stock(kmp_team_t *team, int tid) {
  if (KMP_MASTER_TID(tid) && team->t.t_hierbar != NULL)
    ++team->t.t_hierbar->counts.stock;
}

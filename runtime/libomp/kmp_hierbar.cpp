// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The barrier of an OpenMP team: what one episode does. Plans and memory are made in kmp_hierbar_plan.cpp.

#include "kmp_hierbar.h"

#include "kmp_hierbar_contention.h"
#include "kmp_hierbar_team.h"
#include "kmp_hierbar_trace.h"
#if OMPT_SUPPORT
#include "ompt-specific.h"
#endif

// Payload of an arrival: this thread's task team has tasks, or may still get some, so the primary must act.
static const kmp_uint32 primary_must_act = 1;

// A plain barrier in which nobody needs the primary is one exchange. Why it is enough to look at the task team on arrival:
//
//   Announced. A task enters a deque only after tt_found_tasks of the creator's task team is set, by the creator or seen set by
//   it (__kmp_push_task), and proxy and hidden-helper tasks set their own mark as well. So a thread that made a task arrives
//   with the bit, and the exchange tells everybody. Tasks made by tasks that run during the barrier belong to a team whose bit
//   is up already. The marks stay until the task team is set up anew, so a barrier after a taskwait also takes the slow way.
//
//   Not waited for. On the fast way nobody calls __kmp_task_team_setup, _wait or _sync. The task team then keeps what _setup
//   gave it: tt_active, tt_found_tasks == FALSE, tt_unfinished_threads == tt_nproc, and every th_task_team and th_task_state
//   still name it. It is what these functions leave behind, one barrier older; the next barrier that takes the slow way, or
//   the join, sets up the other parity, waits for this one and flips, as if the fast barriers had not been.
//
//   Slow way. The exchange was the gather: all have arrived, and all know it from the same OR. The primary then does what
//   stands between gather and release in __kmp_barrier_template; the others wait on b_go with final_spin, where they run tasks
//   and leave the task team. exchange_allowed is false where more than the tasks would stand there.
//
//   Expected. Announcing tasks costs an exchange, after which everybody waits once more, for b_go. After two barriers with tasks
//   in a row the team expects a third and leaves the exchange out: gather and release are all that is needed. Two, so that a
//   program in which barriers with and without tasks alternate keeps the exchange. The primary alone writes the count, when
//   all have arrived and nobody has been released, and the others read it on arrival, so all read the same.
//
//   In a crowd one is enough, and it takes two without tasks to forget: the way back from the exchange calls the scheduler once
//   more for everybody, and gather and release are not much slower there.
static const kmp_uint32 tasks_are_expected = 2;

static bool has_tasks(const kmp_task_team_t *task_team) {
  return task_team != NULL && (TCR_4(task_team->tt.tt_found_tasks) | TCR_4(task_team->tt.tt_found_proxy_tasks) |
                               TCR_4(task_team->tt.tt_hidden_helper_task_encountered));
}

// Only the primary calls it, between the last arrival and the first release. A fast barrier cannot reset the count, because the
// others leave it on their own; that there was one is seen at the next with tasks.
static void remember_tasks(kmp_hierbar_team_t *hier, bool had_tasks) {
  const bool follows_another = hier->counts.fast == hier->fast_at_task_barrier;
  hier->fast_at_task_barrier = hier->counts.fast;
  const kmp_uint32 before = hier->task_expectation;
  kmp_uint32 expectation = had_tasks ? 1 : 0;
  if (hier->engine.is_crowd())
    expectation = had_tasks ? tasks_are_expected + 1 : before - (before != 0);
  else if (had_tasks && follows_another)
    expectation = KMP_MIN(before + 1, tasks_are_expected);
  if (expectation != before) // all read this line; it is left alone while nothing changes
    hier->task_expectation = expectation;
}

// Null: the barrier has to take the way through gather and release. A serial team may come from the pool, where a parallel team
// has left its barrier in it.
static inline kmp_hierbar_team_t *exchanging_team(const kmp_team_t *team) {
  kmp_hierbar_team_t *hier = team->t.t_hierbar;
  const bool exchanges =
      hier != NULL && hier->exchange_allowed && !team->t.t_serialized && hier->task_expectation < tasks_are_expected;
  return exchanges ? hier : NULL;
}

// One source for a barrier with and without stamps.
template <class Trace>
static inline int run_exchange(kmp_info_t *this_thr, int gtid, kmp_hierbar_team_t *hier, const Trace &trace) {
  kmp_team_t *team = this_thr->th.th_team;
  const int tid = this_thr->th.th_info.ds.ds_tid;
  const kmp_uint32 bits = has_tasks(this_thr->th.th_task_team) ? primary_must_act : 0;

  kmp_hierbar_host_t host(this_thr, team, tid USE_ITT_BUILD_ARG(NULL));
  kmp_hierbar_mem_t mem(host);
  const auto crossing = hier->engine.cross(mem, tid, bits, trace);

  if (KMP_MASTER_TID(tid))
    ++(crossing.bits != 0 ? hier->counts.slow : hier->counts.fast);
  if (crossing.bits == 0 || crossing.result == hierbar::WaitResult::kAborted) {
    trace.served(hier);
    return KMP_MASTER_TID(tid) ? 0 : 1;
  }

  if (KMP_MASTER_TID(tid)) {
    remember_tasks(hier, true);
    __kmp_task_team_setup(this_thr, team);
    __kmp_task_team_wait(this_thr, team USE_ITT_BUILD_ARG(NULL));
  }
  __kmp_hierbar_release(bs_plain_barrier, this_thr, gtid, tid, FALSE USE_ITT_BUILD_ARG(NULL));
  __kmp_task_team_sync(this_thr, team);
  return KMP_MASTER_TID(tid) ? 0 : 1;
}

int __kmp_hierbar_barrier(enum barrier_type bt, int gtid, int is_split, void (*reduce)(void *, void *)) {
  if (bt != bs_plain_barrier || is_split || reduce != NULL)
    return KMP_HIERBAR_NOT_SERVED;
  kmp_info_t *this_thr = __kmp_threads[gtid];
  kmp_hierbar_team_t *hier = exchanging_team(this_thr->th.th_team);
  return hier == NULL ? KMP_HIERBAR_NOT_SERVED : run_exchange(this_thr, gtid, hier, kmp_hierbar_untraced_t());
}

[[gnu::noinline]] static int run_traced_exchange(kmp_info_t *this_thr, int gtid, kmp_hierbar_team_t *hier,
                                                 hierbar_phases *phases) {
  return run_exchange(this_thr, gtid, hier, kmp_hierbar_traced_t(phases));
}

int __kmp_hierbar_observed_barrier(enum barrier_type bt, int gtid, int is_split, void (*reduce)(void *, void *)) {
  hierbar_phases *phases = __kmp_hierbar_phases();
  if (phases == NULL || bt != bs_plain_barrier || is_split || reduce != NULL)
    return __kmp_hierbar_barrier(bt, gtid, is_split, reduce);
  kmp_info_t *this_thr = __kmp_threads[gtid];
  kmp_hierbar_team_t *hier = exchanging_team(this_thr->th.th_team);
  return hier == NULL ? KMP_HIERBAR_NOT_SERVED : run_traced_exchange(this_thr, gtid, hier, phases);
}

#if OMPT_SUPPORT && OMPT_OPTIONAL
// __ompt_get_barrier_kind for a plain barrier; a call less.
static inline ompt_sync_region_t kind_of(const ident_t *loc) {
  const kmp_int32 flags = loc == NULL ? 0 : loc->flags;
  if ((flags & KMP_IDENT_BARRIER_EXPL) != 0)
    return ompt_sync_region_barrier_explicit;
  return (flags & KMP_IDENT_BARRIER_IMPL) != 0 ? ompt_sync_region_barrier_implicit_workshare
                                               : ompt_sync_region_barrier_implementation;
}

bool __kmp_hierbar_told_barrier(ident_t *loc, int gtid, void *address) {
  if (__kmp_hierbar_observer.begin == NULL)
    return false;
  kmp_info_t *this_thr = __kmp_threads[gtid];
  kmp_hierbar_team_t *hier = exchanging_team(this_thr->th.th_team);
  if (hier == NULL)
    return false;
  this_thr->th.th_ident = loc;
  if (void *outer = OMPT_LOAD_RETURN_ADDRESS(gtid)) // of a function of libomp that called this one
    address = outer;
  hierbar_phases *phases = __kmp_hierbar_observer.begin(kind_of(loc), OMPT_CUR_TASK_DATA(this_thr), address);
  if (phases == NULL) {
    run_exchange(this_thr, gtid, hier, kmp_hierbar_untraced_t());
    return true;
  }
  run_traced_exchange(this_thr, gtid, hier, phases);
  __kmp_hierbar_observer.end();
  return true;
}
#endif

// Gather and release with the primary in between, for everything else: fork and join, reductions, split barriers. They run
// along the same plan, over libomp's own words in the threads (b_arrived, b_go) and not over the engine's lines: a parked worker
// belongs to no team, and libomp keeps these words in step when teams change, and wakes, reaps and pauses threads through them.
//
// Order. A thread hands over by a fetch-and-add on such a word, which is a full barrier on every machine (__sync_fetch_and_add):
// all that it wrote or read before comes first. The other side waits by kmp_flag_64::wait, which ends in a plain load. A
// processor that is weakly ordered (AArch64, POWER, RISC-V) may have done the loads that follow in the program before that one.
// So each wait is followed by an acquire fence, which costs nothing on x86. As hand-overs are chained from a leaf to the primary
// and back, each thread then sees what all threads before it in the chain have written.
static inline void acquire_after_wait() { std::atomic_thread_fence(std::memory_order_acquire); }

static void combine_child(kmp_info_t *this_thr, int gtid, kmp_info_t *child, void (*reduce)(void *, void *)) {
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

static inline void await_child(enum barrier_type bt, kmp_info_t *this_thr, int gtid, kmp_info_t *child, kmp_uint64 arrived,
                               void (*reduce)(void *, void *) USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
  kmp_flag_64<> flag(&child->th.th_bar[bt].bb.b_arrived, arrived);
  __kmp_hierbar_adjust_blocktime(this_thr);
  flag.wait(this_thr, FALSE USE_ITT_BUILD_ARG(itt_sync_obj));
  // (kmp_hierbar.A2) pairs with (A1), the fetch-and-add of the child. Read from here on, of the child and of all below it: what
  // the reduction combines and the users' data. By the primary, from all: the marks of the task team. An old mark would let it
  // release the barrier, or end the region, before the tasks are done.
  acquire_after_wait();
  combine_child(this_thr, gtid, child, reduce);
}

// After this the team is not touched any more: in a join the primary may already be using it otherwise.
static inline void tell_arrival(enum barrier_type bt, kmp_info_t *this_thr, kmp_info_t *parent) {
  kmp_flag_64<> flag(&this_thr->th.th_bar[bt].bb.b_arrived, parent);
  flag.release(); // (kmp_hierbar.A1) full barrier; pairs with (A2) in await_child
}

// What b_arrived of the others becomes. Asked of the team, not of the own b_arrived: a parent that sleeps on that one has its
// sleep bit in it. Only those who gather may ask: the primary has just written that line, and whoever reads it without need
// arrives the later for it (a region of two threads took 682 ns in place of 653).
static inline kmp_uint64 next_arrived(const kmp_team_t *team, enum barrier_type bt) {
  return team->t.t_bar[bt].b_arrived + KMP_BARRIER_STATE_BUMP;
}

// The primary's last step.
static inline void finish_gather(enum barrier_type bt, kmp_info_t *this_thr, kmp_team_t *team, kmp_uint64 arrived) {
  kmp_hierbar_team_t *hier = team->t.t_hierbar;
  team->t.t_bar[bt].b_arrived = arrived;
  const bool could_exchange = bt == bs_plain_barrier && hier->exchange_allowed;
  const bool had_tasks = could_exchange && has_tasks(this_thr->th.th_task_team);
  if (could_exchange)
    remember_tasks(hier, had_tasks);
  ++(had_tasks ? hier->counts.slow : hier->counts.phased);
}

// Two threads: nothing is looked up in the plan, and a region takes as long as under hyper (a twentieth less than by run_gather).
static inline void gather_pair(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                               void (*reduce)(void *, void *) USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
  kmp_team_t *team = this_thr->th.th_team;
  if (!KMP_MASTER_TID(tid)) {
    tell_arrival(bt, this_thr, team->t.t_threads[0]);
    return;
  }
  const kmp_uint64 arrived = next_arrived(team, bt);
  await_child(bt, this_thr, gtid, team->t.t_threads[1], arrived, reduce USE_ITT_BUILD_ARG(itt_sync_obj));
  finish_gather(bt, this_thr, team, arrived);
}

template <class Trace>
[[gnu::noinline]] static void run_gather(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
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
    await_child(bt, this_thr, gtid, threads[child], arrived, reduce USE_ITT_BUILD_ARG(itt_sync_obj));
  };
  for (kmp_uint32 i = 0; i < node.num_children; ++i)
    gather_from(shape.child(node, i));
  if (node.num_children != 0)
    trace.gathered();
  if (!KMP_MASTER_TID(tid)) {
    trace.served(hier);
    tell_arrival(bt, this_thr, threads[node.parent == (kmp_uint32)tid ? 0 : node.parent]);
    return;
  }
  for (kmp_uint32 i = 1; i < shape.num_leaders(); ++i)
    gather_from(shape.leader(i));
  trace.released();
  trace.served(hier);
  finish_gather(bt, this_thr, team, arrived);
}

// Tasks would count as the way through the tree, and plain barriers come here because of tasks.
void __kmp_hierbar_gather(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                          void (*reduce)(void *, void *) USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
#if USE_ITT_BUILD && USE_ITT_NOTIFY
  if (__kmp_forkjoin_frames_mode == 3 || __kmp_forkjoin_frames_mode == 2)
    this_thr->th.th_bar_arrive_time = this_thr->th.th_bar_min_time = __itt_get_timestamp();
#endif
  hierbar_phases *phases = bt == bs_plain_barrier ? NULL : __kmp_hierbar_phases();
  if (phases != NULL)
    run_gather(bt, this_thr, gtid, tid, reduce USE_ITT_BUILD_ARG(itt_sync_obj), kmp_hierbar_traced_t(phases));
  else if (this_thr->th.th_team_nproc == 2)
    gather_pair(bt, this_thr, gtid, tid, reduce USE_ITT_BUILD_ARG(itt_sync_obj));
  else
    run_gather(bt, this_thr, gtid, tid, reduce USE_ITT_BUILD_ARG(itt_sync_obj), kmp_hierbar_untraced_t());
}

// ICVs ride along with the release, on the line of b_go; the worker itself puts them where they belong.
static void release_one(enum barrier_type bt, kmp_info_t *thread, kmp_internal_control_t *icvs) {
  kmp_bstate_t *thr_bar = &thread->th.th_bar[bt].bb;
  if (icvs != NULL)
    copy_icvs(&thr_bar->th_fixed_icvs, icvs);
  kmp_flag_64<> flag(&thr_bar->b_go, thread);
  flag.release(); // (kmp_hierbar.G1) full barrier; pairs with (G2) in await_go
}

// A worker waits for its own b_go. Returns false when the library is shutting down and there is no team any more.
static bool await_go(enum barrier_type bt, kmp_info_t *this_thr, int gtid USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
  kmp_bstate_t *thr_bar = &this_thr->th.th_bar[bt].bb;
  kmp_flag_64<> flag(&thr_bar->b_go, KMP_BARRIER_STATE_BUMP);
  __kmp_hierbar_adjust_blocktime(this_thr);
  flag.wait(this_thr, TRUE USE_ITT_BUILD_ARG(itt_sync_obj));
  // (kmp_hierbar.G2) pairs with (G1), the fetch-and-add of the parent, and through it with the primary's. Written by the primary
  // before and read from here on: whether the library shuts down; the thread's team and number; the engine and its plan;
  // task_expectation, which all must read alike, since one that exchanges never meets those that gather; the task team; the
  // team's b_arrived, of which an old value is the one that a child's word has had since the last episode, so that its parent
  // would not wait for it; the users' data.
  acquire_after_wait();
#if USE_ITT_BUILD && USE_ITT_NOTIFY
  if ((__itt_sync_create_ptr && itt_sync_obj == NULL) || KMP_ITT_DEBUG) {
    // In a fork barrier the object could not be had before: end the wait on the previous region, prepare for the new one.
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

// Calls release(leader) for the leaders that `tid` has to let go: all of them by the primary, at once, which is the quickest.
// After a plain barrier they pass it on as a binary tree instead: it mostly came this way because of tasks, and threads that come
// back all at once fight for the one deque into which the next producer is about to write (16 threads on 2 cpus, time per task to
// hyper's: at once 1.11, tree of four 1.05, binary 1.03; 8 threads 1.06, 1.00, 0.95).
template <class Release>
static void release_leaders(const kmp_hierbar_engine_t &shape, enum barrier_type bt, kmp_uint32 tid, Release release) {
  if (bt != bs_plain_barrier) {
    for (kmp_uint32 i = 1; tid == 0 && i < shape.num_leaders(); ++i)
      release(shape.leader(i));
    return;
  }
  kmp_uint32 self = 0;
  while (self < shape.num_leaders() && shape.leader(self) != tid)
    ++self;
  for (kmp_uint32 i = 2 * self + 1; i <= 2 * self + 2 && i < shape.num_leaders(); ++i)
    release(shape.leader(i));
}

// The other leaders come first, as the farthest and with the largest subtrees behind them.
void __kmp_hierbar_release(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                           int propagate_icvs USE_ITT_BUILD_ARG(void *itt_sync_obj)) {
  if (!KMP_MASTER_TID(tid)) {
    if (!await_go(bt, this_thr, gtid USE_ITT_BUILD_ARG(itt_sync_obj)))
      return;
    hierbar_phases *phases = bt == bs_reduction_barrier ? __kmp_hierbar_phases() : NULL;
    if (phases != NULL)
      kmp_hierbar_traced_t(phases).released();
    tid = __kmp_tid_from_gtid(gtid); // in a fork barrier the worker learns only now which team it is in
  }
  kmp_team_t *team = this_thr->th.th_team;
  kmp_info_t **threads = team->t.t_threads;
  const kmp_hierbar_engine_t &shape = team->t.t_hierbar->engine;
  const hierbar_plan_node &node = shape.node(tid);
  kmp_internal_control_t *icvs = NULL;
  if (propagate_icvs)
    icvs = KMP_MASTER_TID(tid) ? &team->t.t_implicit_task_taskdata[0].td_icvs : &this_thr->th.th_bar[bt].bb.th_fixed_icvs;
  const auto release = [&](kmp_uint32 other) { release_one(bt, threads[other], icvs); };
  release_leaders(shape, bt, tid, release);
  for (kmp_uint32 i = 0; i < node.num_children; ++i)
    release(shape.child(node, i));
  // The own implicit task comes after the children, who need not wait for it.
  if (propagate_icvs && !KMP_MASTER_TID(tid)) {
    __kmp_init_implicit_task(team->t.t_ident, this_thr, team, tid, FALSE);
    copy_icvs(&team->t.t_implicit_task_taskdata[tid].td_icvs, icvs);
  }
}

void __kmp_hierbar_count_stock(kmp_team_t *team, int tid) {
  if (KMP_MASTER_TID(tid) && team->t.t_hierbar != NULL)
    ++team->t.t_hierbar->counts.stock;
}

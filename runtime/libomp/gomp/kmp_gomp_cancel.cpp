// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cancelled loops, sections and regions, and what they leave behind in the buffers of worksharing
// constructs. For all programs, not only those that GCC compiled.
//
// libomp counts the threads that are through with a construct when they ask for their next chunk
// and get none; then its buffer can serve another construct. A thread that leaves a loop or
// sections by cancellation does not ask any more. It does so here, after it has made the iterations
// that are left unreachable: without that it would go through all their chunks.

#include "libomp/gomp/kmp_gomp_cancel.h"

#include "kmp_dispatch.h"
#include "libomp/gomp/kmp_gomp_entry.h"
#include "libomp/gomp/kmp_gomp_ompt.h"

namespace {

// What a thread's count of constructs (th_disp_index) says beside the number, in a region that may
// be cancelled. A release store writes it; the partner is the acquire load in is_through(), of a
// thread that waits for a buffer. A region of 2^30 constructs and more has no room for it; a
// cancelled one of that length may wait for ever, as all do in LLVM's own.
constexpr kmp_uint32 left_region = 1u << 30; // the thread comes to no construct any more
constexpr kmp_uint32 waits =
    1u << 31; // for a buffer, so it is through with all constructs before its last one
constexpr kmp_uint32 number_mask = left_region - 1;

void mark(kmp_disp_t *dispatch, kmp_uint32 what) {
  KMP_ATOMIC_ST_REL((std::atomic<kmp_uint32> *)&dispatch->th_disp_index, what);
}

// Whether the thread will not touch the buffer of this construct any more.
bool is_through(kmp_disp_t *dispatch, kmp_uint32 construct) {
  const kmp_uint32 index = KMP_ATOMIC_LD_ACQ((std::atomic<kmp_uint32> *)&dispatch->th_disp_index);
  return (index & left_region) != 0 ||
         ((index & waits) != 0 && (index & number_mask) > construct + 1);
}

// Takes away what is left of the thread's own share of a loop whose threads steal from each other.
template <typename T> void drop_own_share(int gtid, dispatch_private_info_template<T> *mine) {
  if (sizeof(T) == 8) {
    // Thieves hold the lock too.
    __kmp_acquire_lock(mine->u.p.steal_lock, gtid);
    mine->u.p.count = mine->u.p.ub;
    __kmp_release_lock(mine->u.p.steal_lock, gtid);
    return;
  }
  // Thieves exchange the pair (count, ub) at once too.
  union {
    struct {
      kmp_uint32 count, ub;
    } p;
    kmp_int64 both;
  } old, empty;
  volatile kmp_int64 *range = (volatile kmp_int64 *)&mine->u.p.count;
  do {
    old.both = *range;
    empty.p.count = empty.p.ub = old.p.ub;
  } while (!KMP_COMPARE_AND_STORE_REL64(range, old.both, empty.both));
}

// Leaves nothing of the loop to ask for. Other threads do not get more of it either, except what is
// theirs from the beginning.
template <typename T> void drop_rest(int gtid, kmp_disp_t *dispatch) {
  typedef typename traits_t<T>::unsigned_t U;
  auto *mine = (dispatch_private_info_template<T> *)dispatch->th_dispatch_pr_current;
  auto *shared = (dispatch_shared_info_template<U> volatile *)dispatch->th_dispatch_sh_current;
  switch (mine->schedule) {
  // What is taken is counted there, in chunks or in iterations. A chunk's number is multiplied by
  // its size; that must not overflow, so the count must not become larger than it may be.
  case kmp_sch_dynamic_chunked:
    shared->u.s.iteration = (mine->u.p.tc - 1) / (U)KMP_MAX(mine->u.p.parm1, (T)1) + 1;
    break;
  case kmp_sch_guided_iterative_chunked:
  case kmp_sch_guided_analytical_chunked:
    shared->u.s.iteration = mine->u.p.tc;
    break;
#if KMP_STATIC_STEAL_ENABLED
  case kmp_sch_static_steal:
    drop_own_share(gtid, mine); // the thread then steals from others, a quarter of what they have
                                // at least, and drops that
    break;
#endif
  default:
    mine->u.p.tc = 0; // the thread's own
    break;
  }
}

template <typename T> void give_up(int gtid, kmp_disp_t *dispatch) {
  T lower, upper;
  typename traits_t<T>::signed_t stride;
  kmp_int32 last;
  bool got_more;
  do {
    if (((dispatch_private_info_template<T> *)dispatch->th_dispatch_pr_current)->u.p.tc != 0)
      drop_rest<T>(gtid, dispatch);
    got_more = sizeof(T) == 8 ? __kmpc_dispatch_next_8u(NULL, gtid, &last, (kmp_uint64 *)&lower,
                                                        (kmp_uint64 *)&upper, (kmp_int64 *)&stride)
                              : __kmpc_dispatch_next_4u(NULL, gtid, &last, (kmp_uint32 *)&lower,
                                                        (kmp_uint32 *)&upper, (kmp_int32 *)&stride);
  } while (got_more);
}

// The thread leaves the loop or the sections that it is in, if any.
void leave_construct(int gtid) {
  kmp_info_t *thread = __kmp_threads[gtid];
  kmp_disp_t *dispatch = thread->th.th_dispatch;
  kmp_team_t *team = thread->th.th_team;
  if (team->t.t_serialized) {
    // There is no buffer to share and nobody else to leave, so the request is done. No barrier
    // takes it back, and the serialized regions around this one have the same team.
    team->t.t_cancel_request = cancel_noreq;
    return;
  }
  if (!dispatch->th_dispatch_pr_current) // no loop, or one that the compiler divided
    return;
  const kmp_gomp_caller_t caller(
      gtid); // tells that the construct has ended, then that it is cancelled
  if (dispatch->th_dispatch_pr_current->type_size == 8)
    give_up<kmp_uint64>(gtid, dispatch);
  else
    give_up<kmp_uint32>(gtid, dispatch);
  caller.call_again();
}

// Gives back the locks of an unfinished loop whose threads steal from each other, and marks the
// threads' buffers as unused.
void forget_shares(kmp_team_t *team, kmp_uint32 construct, int buffer) {
#if KMP_STATIC_STEAL_ENABLED
  for (int tid = 0; tid < team->t.t_max_nproc; ++tid) {
    kmp_disp_t *dispatch = &team->t.t_dispatch[tid];
    dispatch_private_info_t *mine =
        dispatch->th_disp_buffer ? &dispatch->th_disp_buffer[buffer] : NULL;
    if (!mine || mine->steal_flag == 0)
      continue;
    // A thief marks the buffer of a thread that has not come to the loop; its lock is that of an
    // earlier one.
    const bool has_come = (dispatch->th_disp_index & number_mask) > construct;
    if (has_come && mine->type_size == 8 && mine->u.p64.steal_lock) {
      __kmp_destroy_lock(mine->u.p64.steal_lock);
      __kmp_free(mine->u.p64.steal_lock);
      mine->u.p64.steal_lock = NULL;
    }
    mine->steal_flag = 0;
  }
#endif
}

// The buffer holds a construct that some threads did not finish. No thread is in it.
void empty_buffer(kmp_team_t *team, kmp_uint32 construct, int buffer) {
  memset((void *)&team->t.t_disp_buffer[buffer].u, 0, sizeof(team->t.t_disp_buffer[buffer].u));
  forget_shares(team, construct, buffer);
}

// Gives a buffer back in place of the threads that have left the region without coming to its
// construct. If there are none, the last thread that was through has given it back before, and as
// that precedes its mark, the exchange fails. The thread whose exchange succeeds is alone with the
// buffer: the others wait for its new number.
void release_abandoned(kmp_team_t *team, volatile kmp_uint32 *buffer_index, kmp_uint32 construct) {
  for (int tid = 0; tid < team->t.t_nproc; ++tid)
    if (!is_through(&team->t.t_dispatch[tid], construct))
      return;
  auto *number = (std::atomic<kmp_uint32> *)buffer_index;
  kmp_uint32 expected = construct;
  if (!number->compare_exchange_strong(expected, construct | waits))
    return;
  empty_buffer(team, construct, construct % __kmp_dispatch_num_buffers);
  KMP_ATOMIC_ST_REL(number, construct + __kmp_dispatch_num_buffers);
}

// The thread comes to nothing else in its region.
void leave_region(int gtid) {
  kmp_info_t *thread = __kmp_threads[gtid];
  if (!thread->th.th_team->t.t_serialized)
    mark(thread->th.th_dispatch, thread->th.th_dispatch->th_disp_index | left_region);
}

// Reductions that tasks take part in, of programs that Clang compiled. Each thread ends its
// taskgroup at the end of the construct, and the last one takes back what they share. With a loop,
// one may not have come to it; with a region, Clang's code for cancelled ones has no end. What was
// allocated for the variables is not freed: it is known to the code of tasks alone.
void forget_task_reductions(int gtid, kmp_team_t *team) {
  kmp_info_t *thread = __kmp_threads[gtid];
  for (int tid = 0; tid < team->t.t_nproc; ++tid) {
    kmp_taskdata_t *task = &team->t.t_implicit_task_taskdata[tid];
    while (kmp_taskgroup_t *taskgroup = task->td_taskgroup) {
      task->td_taskgroup = taskgroup->parent;
      if (taskgroup->reduce_data)
        __kmp_thread_free(thread, taskgroup->reduce_data);
      __kmp_thread_free(thread, taskgroup);
    }
  }
  for (int of_loop = 0; of_loop < 2; ++of_loop) {
    void *shared = KMP_ATOMIC_LD_RLX(&team->t.t_tg_reduce_data[of_loop]);
    if (!shared)
      continue;
    __kmp_thread_free(thread, shared);
    KMP_ATOMIC_ST_RLX(&team->t.t_tg_reduce_data[of_loop], NULL);
    KMP_ATOMIC_ST_RLX(&team->t.t_tg_fini_counter[of_loop], 0);
  }
}

} // namespace

void __kmp_gomp_request_cancel(int gtid, kmp_int32 old, kmp_int32 kind) {
  std::atomic<kmp_int32> *pending = &__kmp_threads[gtid]->th.th_team->t.t_cancel_request;
  while (kind == cancel_parallel && old != cancel_parallel &&
         !pending->compare_exchange_strong(old, kind)) {
  }
  leave_construct(gtid);
  if (kind == cancel_parallel)
    leave_region(gtid);
}

bool __kmp_gomp_cancels(int gtid, kmp_int32 pending, kmp_int32 kind) {
  if (kind == cancel_parallel ? pending != cancel_parallel : pending == cancel_noreq)
    return false;
  leave_construct(gtid);
  if (kind == cancel_parallel)
    leave_region(gtid);
  return true;
}

void __kmp_gomp_wait_for_buffer(kmp_info_t *thread, volatile kmp_uint32 *buffer_index,
                                kmp_uint32 construct) {
  kmp_team_t *team = thread->th.th_team;
  kmp_disp_t *dispatch = thread->th.th_dispatch;
  kmp_uint32 spins;
  kmp_uint64 time;
  KMP_INIT_YIELD(spins);
  KMP_INIT_BACKOFF(time);
  const bool may_release = __kmp_omp_cancellation && construct < number_mask;
  if (may_release)
    mark(dispatch, (construct + 1) | waits);
  // The acquire load's partners are release_abandoned() and the fence before LLVM's own increment.
  while (KMP_ATOMIC_LD_ACQ((std::atomic<kmp_uint32> *)buffer_index) != construct) {
    if (may_release && team->t.t_cancel_request == cancel_parallel)
      release_abandoned(team, buffer_index, construct - __kmp_dispatch_num_buffers);
    KMP_YIELD_OVERSUB_ELSE_SPIN(spins, time);
  }
  dispatch->th_disp_index = construct + 1;
}

// Who leaves a region by cancellation may never have come to a loop that others have begun, so the
// loop's buffer is neither given back nor empty. The next region of the team must not find that,
// nor what else the threads of a construct share. All threads of the team are in its fork barrier.
void __kmp_gomp_forget_cancellation(int gtid, kmp_team_t *team) {
  const int num_buffers = team->t.t_max_nproc > 1 ? __kmp_dispatch_num_buffers : 1;
  for (int i = 0; i < num_buffers; ++i) {
    dispatch_shared_info_t *buffer = &team->t.t_disp_buffer[i];
    empty_buffer(team, buffer->buffer_index, i);
    if (buffer->doacross_flags)
      __kmp_thread_free(__kmp_threads[gtid], (void *)buffer->doacross_flags);
    buffer->doacross_flags = NULL;
    buffer->doacross_num_done = 0;
  }
  forget_task_reductions(gtid, team);
  __kmp_gomp_forget_memory(team);
  // A worker that left a cancellable barrier may have been counted or released in it nevertheless.
  // A team that is not kept has none now; __kmp_gomp_forget_release() has done the same for its
  // workers.
  for (int tid = 1; tid < team->t.t_nproc; ++tid) {
    kmp_info_t *worker = team->t.t_threads[tid];
    if (!worker)
      continue;
    kmp_bstate_t *barrier = &worker->th.th_bar[bs_plain_barrier].bb;
    barrier->b_arrived = team->t.t_bar[bs_plain_barrier].b_arrived;
    __kmp_gomp_forget_release(worker);
  }
  team->t.t_cancel_request = team->t.t_barrier_cancel_request = cancel_noreq;
}

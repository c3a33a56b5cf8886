// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_TASKS_H
#define KMP_HIERBAR_TASKS_H

// What holds a barrier until the team's tasks are done. libomp counts the threads that are not
// finished with them (tt_unfinished_threads); at zero the primary releases the barrier, whatever
// its pattern is. Two kinds of tasks slipped through (seen in 22.1.8 and 19.1.7):
//
//   A finished thread runs a task from its own deque, or one with a priority. Only one that steals
//   counted itself in again. The first arises when another thread fulfils the event of a detached
//   task and gives its completion to a finished thread, which then finds the tasks that depended on
//   it in its own deque. Once these have run, nothing is left to hold the barrier, although the
//   thread still runs what they created.
//
//   A task is detached, and its parent is an explicit task. A thread is finished when no child of
//   its implicit task is incomplete, and that count does not know of grandchildren.
//
// So a finished thread counts itself in before it looks for a task, and a detached task counts as
// one more thread until its completion is done. Both happen while the count cannot be zero: what
// the thread looks for is held by whoever made it, who counts until it has run; the thread that
// runs the body of a detached task counts. When it is zero nevertheless, the barrier is over and
// what is found is the remainder of a task that nobody waits for.
//
// Six more faults of detached tasks are mended (UPSTREAM.md describes each of them), the first two
// in the hooks alone:
//
//   A fulfilled event says so by KMP_EVENT_FULFILLED and not by KMP_EVENT_UNINITIALIZED. The thread
//   that finishes the task then knows that the event's lock is in use, and takes it before it frees
//   the task. The thread that fulfils the event releases that lock last. Without this it wrote to
//   freed memory.
//
//   A thread that has detached a task does not read it any more, because it may be freed already.
//   So it reads the handle of target tasks before.
//
//   In a team of one thread, a parent only counts its child if that is detachable, or if others are
//   incomplete. This was asked when the task was made, when it ended and in part when it was freed,
//   and the answers differed: counts fell below zero, which is a wait without end, and tasks were
//   freed while they ran, or never. Now the first answer is kept in the task.
//
//   Nor was a task counted whose siblings had all ended. Where it depended on a detached one whose
//   completion had not run yet, it had to wait for that, and neither a taskgroup nor a taskwait
//   waited for it. A task that may have to wait is counted now.
//
//   After a region within a team of one thread, that thread has the task team again that an earlier
//   team of one thread has left, and its count of unfinished threads is zero. So nothing waited for
//   a detached task, or all did without running what it leads to.
//
//   The completion of a detached task was subject to the scheduling constraint of tied tasks,
//   although it runs nothing of the program's. A thread in a taskwait or at the end of a taskgroup
//   could not take it from its own deque. Now every thread may.
//
// Five more faults are of the search for a task and of what holds it back:
//
//   A thread looked only at the last task of its own deque. A completion, what depended on a
//   detached task, or a tied child of an untied task that the thread ran while it waited, comes
//   there in front of the children that the thread waits for, and hid them. Where the team has
//   detachable or untied tasks it now looks further, and who steals does so too.
//
//   Of the tasks with priorities a thread looked only at the oldest one of the highest priority.
//   When two threads waited for children that lay behind it, nobody ever ran them.
//
//   A thread counted as finished although its deque, or the lists of priorities, had a task that
//   another one's lock (mutexinoutset) held back at that moment. And who looked at a task with a
//   priority took it out of their number meanwhile.
//
//   That lock was freed when the parent of the tasks ended. What had its memory then could look
//   like a lock that somebody holds: such a task never ran. And a detached task released it only
//   after its parent had been told of the end: what had the memory then was a lock that nobody held
//   and nobody could take.
//
//   Nor was it taken for a task that runs as soon as it is made or released, as all do in a team of
//   one thread. So two tasks of a set could run together there, if one of them was detached or ran
//   others while it waited.

#include "kmp.h"

// Whether the thread may take a task from its own deque, or one with a priority. A finished one
// that sees none must not look again without having counted itself in: one may have come in
// between, and what it leads to would hold nothing. It finds that one the next time.
static inline bool __kmp_hierbar_may_take(kmp_task_team_t *task_team, int tid, int *thread_finished) {
  if (!*thread_finished)
    return true;
  if (task_team->tt.tt_num_task_pri == 0 && TCR_4(task_team->tt.tt_threads_data[tid].td.td_deque_ntasks) == 0)
    return false;
  std::atomic<kmp_int32> &unfinished = task_team->tt.tt_unfinished_threads;
  kmp_int32 count = unfinished.load(std::memory_order_acquire);
  while (count > 0) {
    // acq_rel, as libomp's own increments and decrements of it are
    if (unfinished.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      *thread_finished = FALSE;
      break;
    }
  }
  return true;
}

// Whether dependences of tasks are tracked in the thread's team even if that has one thread only,
// as __kmpc_omp_task_with_deps asks.
static inline bool __kmp_hierbar_tracks_dependences(const kmp_info_t *thread) {
  const kmp_task_team_t *task_team = thread->th.th_task_team;
  return task_team != NULL && (task_team->tt.tt_found_proxy_tasks || task_team->tt.tt_hidden_helper_task_encountered);
}

// Whether the parent counts the task. Copies of a task come here too, with what their original had.
static inline bool __kmp_hierbar_count(kmp_taskdata_t *taskdata, bool counts) {
  counts = counts || __kmp_hierbar_tracks_dependences(taskdata->td_alloc_thread);
  taskdata->td_flags.reserved31 = counts; // reserved for the library, which has no use for it in any version that we know
  return counts;
}

static inline bool __kmp_hierbar_is_counted(const kmp_taskdata_t *taskdata) { return taskdata->td_flags.reserved31 != 0; }

// Whether a task team must be set up before the thread creates a detachable task.
static inline bool __kmp_hierbar_lacks_task_team(const kmp_info_t *thread) {
  const kmp_task_team_t *task_team = thread->th.th_task_team;
  return task_team == NULL || (thread->th.th_team->t.t_serialized && !TCR_4(task_team->tt.tt_active));
}

// Whether what is in a deque is the completion of a task that was detached. The constraint is not
// about it.
static inline bool __kmp_hierbar_is_completion(const kmp_taskdata_t *taskdata) {
  return taskdata->td_flags.proxy == TASK_PROXY && taskdata->td_flags.complete;
}

// Of kmp_tasking.cpp. If it returns true, it has taken the locks that the task needs
// (mutexinoutset).
static bool __kmp_task_is_allowed(int gtid, const kmp_int32 is_constrained, const kmp_taskdata_t *tasknew,
                                  const kmp_taskdata_t *taskcurr);

// Whether a task that libomp does not defer runs now. If so, it has the locks of its sets. Where
// another task has one of them, the task goes into the thread's deque, and the end of the team waits
// for it. The child of a final task always runs now: its parent need not wait for it, and may return
// while the child still uses the parent's variables.
static inline bool __kmp_hierbar_runs_at_once(kmp_int32 gtid, const kmp_taskdata_t *taskdata) {
  const bool may_wait =
      taskdata->td_flags.team_serial && !taskdata->td_parent->td_flags.final && __kmp_threads[gtid]->th.th_task_team != NULL;
  return __kmp_task_is_allowed(gtid, 0, taskdata, NULL) || !may_wait;
}

// Looks for a task that the thread may run among `count` ones of a deque, whose lock the caller
// holds: from the one at `end` in the direction of `step`. What it finds changes its place step by
// step to `end`, where libomp's code can remove it. NULL: none.
static inline kmp_taskdata_t *__kmp_hierbar_find_allowed(kmp_thread_data_t *thread_data, kmp_uint32 end, kmp_uint32 step,
                                                         kmp_int32 count, kmp_int32 gtid, kmp_int32 is_constrained) {
  const kmp_uint32 mask = TASK_DEQUE_MASK(thread_data->td);
  kmp_taskdata_t **deque = thread_data->td.td_deque;
  const kmp_taskdata_t *current = __kmp_threads[gtid]->th.th_current_task;
  for (kmp_uint32 index = end; count > 0; --count, index = (index + step) & mask) {
    kmp_taskdata_t *taskdata = deque[index];
    if (!__kmp_task_is_allowed(gtid, is_constrained, taskdata, current))
      continue;
    for (; index != end; index = (index - step) & mask)
      deque[index] = deque[(index - step) & mask];
    deque[end] = taskdata;
    return taskdata;
  }
  return NULL;
}

// The newest task of the thread's own deque that it may run, now the last one. Where nothing can be
// detached and no task is untied, the last one is enough, as libomp has it: it is a descendant of
// the task that waits, if there is one. No other thread puts tasks there, and the waiting thread
// runs descendants only.
static inline kmp_taskdata_t *__kmp_hierbar_find_newest(const kmp_task_team_t *task_team, kmp_thread_data_t *thread_data,
                                                        kmp_int32 gtid, kmp_int32 is_constrained) {
  const kmp_uint32 last = (thread_data->td.td_deque_tail - 1) & TASK_DEQUE_MASK(thread_data->td);
  const bool looks_further = TCR_4(task_team->tt.tt_found_proxy_tasks) || TCR_4(task_team->tt.tt_untied_task_encountered);
  const kmp_int32 count = looks_further ? thread_data->td.td_deque_ntasks : 1;
  return __kmp_hierbar_find_allowed(thread_data, last, -1, count, gtid, is_constrained);
}

// The deques of priorities are in a list, which only grows, and under a lock. Who looks for a task
// walks it without: it is looked at in each search of a team that has tasks with priorities. libomp
// enters a deque by a plain store. On cpus that let stores pass each other (AArch64, POWER) another
// thread could find it and not yet what is in it.
//
// (P1) release store, of a deque that is complete; pairs with (P2).
static inline void __kmp_hierbar_enter_deque(kmp_task_pri_t **place, kmp_task_pri_t *deque) {
  __atomic_store_n(place, deque, __ATOMIC_RELEASE);
}

// (P2) acquire load: the first deque, or the one behind another.
static inline kmp_task_pri_t *__kmp_hierbar_deque_at(kmp_task_pri_t *const *place) {
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

// Takes the oldest task of the highest priority that the thread may run. Their number only falls
// when one is taken: who sees zero may rely on it.
static inline kmp_task_t *__kmp_hierbar_take_priority_task(kmp_task_team_t *task_team, kmp_int32 gtid, kmp_int32 is_constrained) {
  for (kmp_task_pri_t *list = __kmp_hierbar_deque_at(&task_team->tt.tt_task_pri_list); list != NULL;
       list = __kmp_hierbar_deque_at(&list->next)) {
    kmp_base_thread_data_t &deque = list->td.td;
    if (TCR_4(deque.td_deque_ntasks) == 0)
      continue;
    __kmp_acquire_bootstrap_lock(&deque.td_deque_lock);
    kmp_taskdata_t *taskdata =
        __kmp_hierbar_find_allowed(&list->td, deque.td_deque_head, 1, deque.td_deque_ntasks, gtid, is_constrained);
    if (taskdata != NULL) {
      deque.td_deque_head = (deque.td_deque_head + 1) & TASK_DEQUE_MASK(deque);
      TCW_4(deque.td_deque_ntasks, deque.td_deque_ntasks - 1);
    }
    __kmp_release_bootstrap_lock(&deque.td_deque_lock);
    if (taskdata != NULL) {
      KMP_ATOMIC_DEC(&task_team->tt.tt_num_task_pri);
      return KMP_TASKDATA_TO_TASK(taskdata);
    }
  }
  return NULL;
}

// Of kmp_taskdeps.h.
static inline void __kmp_dephash_free(kmp_info_t *thread, kmp_dephash_t *h);

// With the memory of a task goes its table of dependences, which has the locks of its children
// (mutexinoutset). libomp frees the table when the task ends. Now it does so only if no child is
// left, which would use a lock after it was freed.
static inline void __kmp_hierbar_free_locks(kmp_taskdata_t *taskdata, kmp_info_t *thread) {
  if (taskdata->td_dephash == NULL)
    return;
  __kmp_dephash_free(thread, taskdata->td_dephash);
  taskdata->td_dephash = NULL;
}

// Before a completed detached task is taken out of its parent's count of children. A parent whose
// count is zero frees the locks of mutexinoutset, so they are released here, and
// __kmp_release_deps(), which comes later, finds nothing to release. Any thread may release them;
// it need not belong to OpenMP.
static inline void __kmp_hierbar_release_locks(kmp_taskdata_t *taskdata) {
  kmp_depnode_t *node = taskdata->td_depnode;
  if (node == NULL || node->dn.mtx_num_locks >= 0) // negative: all locks are held
    return;
  node->dn.mtx_num_locks = -node->dn.mtx_num_locks;
  for (int i = node->dn.mtx_num_locks - 1; i >= 0; --i)
    __kmp_release_lock(node->dn.mtx_locks[i], KMP_GTID_DNE);
}

// Whether a thread in a barrier that has found no task may count itself out. What is left in its
// deque, or has a priority, can only be waiting for a lock. If nobody counted for it, the barrier
// could end before it.
static inline bool __kmp_hierbar_may_finish(const kmp_task_team_t *task_team, int tid) {
  return task_team->tt.tt_num_task_pri == 0 && TCR_4(task_team->tt.tt_threads_data[tid].td.td_deque_ntasks) == 0;
}

// Before the task is marked as detached: from then on it may be completed, and freed, at any time.
// Its completion, like an untied task, may be run by threads that may not run what lies in front of
// it, so who steals must look further.
static inline void __kmp_hierbar_hold(const kmp_taskdata_t *taskdata) {
  KMP_CHECK_UPDATE(taskdata->td_task_team->tt.tt_untied_task_encountered, 1);
  KMP_ATOMIC_INC(&taskdata->td_task_team->tt.tt_unfinished_threads);
}

// Around the completion of a task that was detached, which frees it. The tasks that depended on it
// are in a deque by then.
class kmp_hierbar_held_t {
public:
  explicit kmp_hierbar_held_t(const kmp_taskdata_t *taskdata)
      : task_team_(taskdata->td_flags.detachable == TASK_DETACHABLE ? taskdata->td_task_team : NULL) {}
  ~kmp_hierbar_held_t() {
    if (task_team_ != NULL)
      KMP_ATOMIC_DEC(&task_team_->tt.tt_unfinished_threads);
  }
  kmp_hierbar_held_t(const kmp_hierbar_held_t &) = delete;
  kmp_hierbar_held_t &operator=(const kmp_hierbar_held_t &) = delete;

private:
  kmp_task_team_t *const task_team_;
};

#endif // KMP_HIERBAR_TASKS_H

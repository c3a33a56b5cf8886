// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_TASKS_H
#define KMP_HIERBAR_TASKS_H

// What holds a barrier until the team's tasks are done. libomp counts the threads that are not finished with them
// (tt_unfinished_threads); at zero the primary releases the barrier, whatever its pattern is. Two kinds of tasks slipped through
// (seen in 22.1.8 and 19.1.7):
//
//   A finished thread runs a task from its own deque, or one with a priority. Only one that steals counted itself in again. The
//   first arises when another thread fulfils the event of a detached task and gives its completion to a finished thread, which
//   then finds the tasks that depended on it in its own deque. Once these have run, nothing is left to hold the barrier, although
//   the thread still runs what they created.
//
//   A task is detached, and its parent is an explicit task. A thread is finished when no child of its implicit task is
//   incomplete, and that count does not know of grandchildren.
//
// So a finished thread counts itself in before it looks for a task, and a detached task counts as one more thread until its
// completion is done. Both happen while the count cannot be zero: what the thread looks for is held by whoever made it, who
// counts until it has run; the thread that runs the body of a detached task counts. When it is zero nevertheless, the barrier is
// over and what is found is the remainder of a task that nobody waits for.
//
// Six more faults of detached tasks are mended (UPSTREAM.md describes each of them), the first three in the hooks alone:
//
//   A fulfilled event says so by KMP_EVENT_FULFILLED and not by KMP_EVENT_UNINITIALIZED. The thread that finishes the task
//   then knows that the event's lock is in use, and takes it before it frees the task. The thread that fulfils the event
//   releases that lock last. Without this it wrote to freed memory.
//
//   A thread that has detached a task does not read it any more, because it may be freed already. So it reads the handle of
//   target tasks before.
//
//   A thread that creates a detachable task has a deque, even if the team has found tasks before. Otherwise a team that has
//   tasks with priorities only has no deque to put the completion of the task into, and who fulfils the event looks for one
//   forever. Others see that deque as soon as its pointer is set, so its size is set before.
//
//   In a team of one thread, a parent only counts its child if that is detachable, or if others are incomplete. This was asked
//   when the task was made, when it ended and in part when it was freed, and the answers differed: counts fell below zero,
//   which is a wait without end, and tasks were freed while they ran, or never. Now the first answer is kept in the task.
//
//   After a region within a team of one thread, that thread has the task team again that an earlier team of one thread has
//   left, and its count of unfinished threads is zero. So nothing waited for a detached task, or all did without running
//   what it leads to.
//
//   The completion of a detached task was subject to the scheduling constraint of tied tasks, although it runs nothing of the
//   program's. A thread in a taskwait or at the end of a taskgroup could not take it from its own deque, where only the last
//   task is looked at, and no other thread was allowed to.

#include "kmp.h"

// Whether the thread may take a task from its own deque, or one with a priority. A finished one that sees none must not look
// again without having counted itself in: one may have come in between, and what it leads to would hold nothing. It finds that
// one the next time.
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

// Whether the parent counts the task. Copies of a task come here too, with what their original had.
static inline bool __kmp_hierbar_count(kmp_taskdata_t *taskdata, bool counts) {
  taskdata->td_flags.reserved31 = counts; // reserved for the library, which has no use for it in any version that we know
  return counts;
}

static inline bool __kmp_hierbar_is_counted(const kmp_taskdata_t *taskdata) { return taskdata->td_flags.reserved31 != 0; }

// Whether a task team must be set up before the thread creates a detachable task.
static inline bool __kmp_hierbar_lacks_task_team(const kmp_info_t *thread) {
  const kmp_task_team_t *task_team = thread->th.th_task_team;
  return task_team == NULL || (thread->th.th_team->t.t_serialized && !TCR_4(task_team->tt.tt_active));
}

// Whether what is in a deque is the completion of a task that was detached, and nothing depends on it. Others are left to the
// constraint: what they release would come into the deque of the thread, before children of its own that it waits for.
static inline bool __kmp_hierbar_is_completion(const kmp_taskdata_t *taskdata) {
  return taskdata->td_flags.proxy == TASK_PROXY && taskdata->td_flags.complete && taskdata->td_depnode == NULL;
}

// Before the task is marked as detached: from then on it may be completed, and freed, at any time.
static inline void __kmp_hierbar_hold(const kmp_taskdata_t *taskdata) {
  KMP_ATOMIC_INC(&taskdata->td_task_team->tt.tt_unfinished_threads);
}

// Around the completion of a task that was detached, which frees it. The tasks that depended on it are in a deque by then.
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

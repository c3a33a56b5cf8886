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

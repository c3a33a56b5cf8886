// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_TASKS_H
#define KMP_HIERBAR_TASKS_H

// What holds a barrier until the team's tasks are done. libomp counts the threads that are not
// finished with them (tt_unfinished_threads); at zero the primary releases the barrier, whatever
// its pattern is. That count misses two kinds of tasks (seen in 19.1.7 to 23.1.1):
//
//   A finished thread runs a task from its own deque, or one with a priority. libomp counts a
//   thread again only if it steals. This case arises when another thread fulfils the event of a
//   detached task and gives its completion to a finished thread, which then finds the tasks that
//   depended on it in its own deque. Once these have run, nothing is left to hold the barrier,
//   although the thread still runs what they created.
//
//   A task is detached, and its parent is an explicit task. A thread is finished when no child of
//   its implicit task is incomplete, and that count does not know of grandchildren.
//
// So a finished thread adds itself to the count before it looks for a task, and a detached task
// counts as one more thread until its completion is done. Both happen while the count cannot be
// zero: the creator of the task counts until the task has run, and so does the thread that runs the
// body of a detached task. If the count is zero nevertheless, the barrier is over, and the task
// found is the remainder of one that nobody waits for.
//
// The hooks alone fix two more faults of detached tasks (UPSTREAM.md describes them):
//
//   A fulfilled event has the type KMP_EVENT_FULFILLED and not KMP_EVENT_UNINITIALIZED. The thread
//   that finishes the task then knows that the event's lock is in use, and takes it before it frees
//   the task. The thread that fulfils the event releases that lock last. Without this it writes to
//   freed memory.
//
//   A thread that has detached a task does not read it any more, because it may be freed already.
//   So it reads the handle of target tasks before.
//
// Three more faults concern what holds a task back:
//
//   A thread counts as finished although its deque, or the lists of priorities, has a task that
//   another task's lock (mutexinoutset) holds back at that moment.
//
//   That lock is freed when the parent of the tasks ends. Its reused memory can look like a held
//   lock, and the task then never runs. And a detached task releases the lock only after its parent
//   has been told of the end: it may then write to reused memory, a new lock that nobody holds and
//   nobody can take.
//
//   The lock is not taken for a task that runs as soon as it is made or released, as all do in a
//   team of one thread. So two tasks of a set can run together there, if one of them is detached or
//   runs others while it waits.

#include "kmp.h"

// Whether the thread may take a task from its own deque, or one with a priority. A finished thread
// that sees none must not look again before it has added itself to the count: a task may have
// arrived in between, and the tasks that follow from it would hold nothing. The thread finds that
// task the next time.
static inline bool __kmp_hierbar_may_take(kmp_task_team_t *task_team, int tid,
                                          int *thread_finished) {
  if (!*thread_finished)
    return true;
  if (task_team->tt.tt_num_task_pri == 0 &&
      TCR_4(task_team->tt.tt_threads_data[tid].td.td_deque_ntasks) == 0)
    return false;
  std::atomic<kmp_int32> &unfinished = task_team->tt.tt_unfinished_threads;
  kmp_int32 count = unfinished.load(std::memory_order_acquire);
  while (count > 0) {
    // acq_rel, as libomp's own increments and decrements of it are
    if (unfinished.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      *thread_finished = FALSE;
      break;
    }
  }
  return true;
}

// Of kmp_tasking.cpp. If it returns true, it has taken the locks that the task needs
// (mutexinoutset).
static bool __kmp_task_is_allowed(int gtid, const kmp_int32 is_constrained,
                                  const kmp_taskdata_t *tasknew, const kmp_taskdata_t *taskcurr);

// Whether a task that libomp does not defer runs now. If so, it has the locks of its sets. If
// another task has one of them, the task goes into the thread's deque, and the end of the team
// waits for it. The child of a final task always runs now: its parent need not wait for it, and may
// return while the child still uses the parent's variables.
static inline bool __kmp_hierbar_runs_at_once(kmp_int32 gtid, const kmp_taskdata_t *taskdata) {
  const bool may_wait = taskdata->td_flags.team_serial && !taskdata->td_parent->td_flags.final &&
                        __kmp_threads[gtid]->th.th_task_team != NULL;
  return __kmp_task_is_allowed(gtid, 0, taskdata, NULL) || !may_wait;
}

// The deques of priorities are in a list, which only grows, and under a lock. A thread that looks
// for a task reads the list without the lock, in each search of a team that has tasks with
// priorities. libomp enters a deque by a plain store. On cpus that let stores pass each other
// (AArch64, POWER) another thread could find it and not yet what is in it.
//
// (P1) release store, of a deque that is complete; pairs with (P2).
static inline void __kmp_hierbar_enter_deque(kmp_task_pri_t **place, kmp_task_pri_t *deque) {
  __atomic_store_n(place, deque, __ATOMIC_RELEASE);
}

// (P2) acquire load: the first deque, or the one after another.
static inline kmp_task_pri_t *__kmp_hierbar_deque_at(kmp_task_pri_t *const *place) {
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

// Of kmp_taskdeps.h.
static inline void __kmp_dephash_free(kmp_info_t *thread, kmp_dephash_t *h);

// Frees a task's table of dependences, which has the locks of its children (mutexinoutset), with
// the task's memory. LLVM frees the table when the task ends. Here it does so only if no child is
// left that could use a lock.
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

// When a task ends, before it gives up its own data. In a team of one thread tasks are not counted
// by their parents if nothing is deferred when they are made. Such a task can leave children
// nevertheless, detached ones and those that wait for them. They lead to its data, and that leads
// to its parent's, along which __kmp_task_is_allowed() goes: so from now on it is among the
// parent's children. The parent has not ended, as the task was executed at once. Who frees the task
// later reads this after the task has given up its data.
static inline void __kmp_hierbar_keep_parent(kmp_taskdata_t *taskdata) {
  if (taskdata->td_tracked || KMP_ATOMIC_LD_RLX(&taskdata->td_allocated_child_tasks) == 1)
    return;
  taskdata->td_tracked = true;
  if (taskdata->td_parent->td_flags.tasktype == TASK_EXPLICIT)
    KMP_ATOMIC_INC(&taskdata->td_parent->td_allocated_child_tasks);
}

// Takes one off the count of a task's data in use: the task itself, or a child that has freed its
// own. Returns how many are left; at zero the caller frees the data. If the count is one, nobody
// else has a share that could be given up or copied, so the atomic operation is left out.
static inline kmp_int32 __kmp_hierbar_give_up_data(kmp_taskdata_t *taskdata) {
  // Acquire: pairs with the decrements of the others. What they did with the data is done.
  if (KMP_ATOMIC_LD_ACQ(&taskdata->td_allocated_child_tasks) == 1) {
    KMP_ATOMIC_ST_RLX(&taskdata->td_allocated_child_tasks, 0);
    return 0;
  }
  return KMP_ATOMIC_DEC(&taskdata->td_allocated_child_tasks) - 1;
}

// Whether a thread in a barrier that has found no task may subtract itself from the count. A task
// left in its deque, or one with a priority, can only be waiting for a lock. If nobody counted for
// it, the barrier could end before it.
static inline bool __kmp_hierbar_may_finish(const kmp_task_team_t *task_team, int tid) {
  return task_team->tt.tt_num_task_pri == 0 &&
         TCR_4(task_team->tt.tt_threads_data[tid].td.td_deque_ntasks) == 0;
}

// Before the task is marked as detached: from then on it may be completed, and freed, at any time.
static inline void __kmp_hierbar_hold(const kmp_taskdata_t *taskdata) {
  KMP_ATOMIC_INC(&taskdata->td_task_team->tt.tt_unfinished_threads);
}

// Held around the completion of a detached task, which frees the task. By then the tasks that
// depend on it are in a deque.
class kmp_hierbar_held_t {
public:
  explicit kmp_hierbar_held_t(const kmp_taskdata_t *taskdata)
      : task_team_(taskdata->td_flags.detachable == TASK_DETACHABLE ? taskdata->td_task_team
                                                                    : NULL) {}
  ~kmp_hierbar_held_t() {
    if (task_team_ != NULL)
      KMP_ATOMIC_DEC(&task_team_->tt.tt_unfinished_threads);
  }
  kmp_hierbar_held_t(const kmp_hierbar_held_t &) = delete;
  kmp_hierbar_held_t &operator=(const kmp_hierbar_held_t &) = delete;

private:
  kmp_task_team_t *const task_team_;
};

// ---- the implicit task of a region of one thread within another one ----
//
// libomp makes none: the tasks of the inner region become children of the task that encountered it.
// If that has a detached child that is not complete, whatever the inner region waits for (its end,
// a barrier, a taskwait) waits for that child, too, and for the tasks that depend on it. They can
// only run in the outer region, whose deque has the child's completion, so it hangs. Nor may tasks
// of the inner region wait for dependences on tasks of the outer one.
//
// And if that task is final, the inner region's tasks are taken for children of a final one. They
// all run at once, also where one of their set (mutexinoutset) is detached and not complete.
//
// So the inner region gets an implicit task in these cases; otherwise libomp's behaviour is right.

struct kmp_hierbar_nested_t {
  kmp_taskdata_t task; // first: found by its address
  kmp_taskdata_t *outer;
  kmp_int32 level; // of the region: regions within it may have no such task
};

// When the region begins.
static inline void __kmp_hierbar_enter_nested(kmp_info_t *thread) {
  kmp_taskdata_t *outer = thread->th.th_current_task;
  if (KMP_ATOMIC_LD_ACQ(&outer->td_incomplete_child_tasks) == 0 && !outer->td_flags.final)
    return;
  auto *nested = (kmp_hierbar_nested_t *)__kmp_allocate(sizeof(kmp_hierbar_nested_t)); // all zero
  nested->outer = outer;
  nested->level = thread->th.th_team->t.t_serialized;
  kmp_taskdata_t &task = nested->task;
  task.td_task_id = KMP_GEN_TASK_ID();
  task.td_team = outer->td_team;
  task.td_ident = outer->td_ident;
  // A sibling of the outer task: tools count the levels along the parents, and libomp shows them
  // the inner region without this task.
  task.td_parent = outer->td_parent;
  task.td_level = outer->td_level;
  task.td_last_tied = &task;
  copy_icvs(&task.td_icvs, &outer->td_icvs);
  task.td_flags.tiedness = TASK_TIED;
  task.td_flags.tasktype = TASK_IMPLICIT;
  task.td_flags.task_serial = task.td_flags.team_serial = 1;
  task.td_flags.tasking_ser = outer->td_flags.tasking_ser;
  task.td_flags.started = task.td_flags.executing = 1;
  task.td_flags.reserved31 =
      1; // reserved for the library, which has no use for it in any version that we know
#if OMPT_SUPPORT
  task.ompt_task_info = outer->ompt_task_info;
#endif
  outer->td_flags.executing = 0;
  thread->th.th_current_task = &task;
}

// When the region has ended, and its tasks with it.
static inline void __kmp_hierbar_leave_nested(kmp_info_t *thread) {
  kmp_taskdata_t *task = thread->th.th_current_task;
  if (task->td_flags.tasktype != TASK_IMPLICIT || !task->td_flags.reserved31)
    return;
  auto *nested = (kmp_hierbar_nested_t *)task;
  if (nested->level != thread->th.th_team->t.t_serialized)
    return;
  if (task->td_dephash != NULL)
    __kmp_dephash_free(thread, task->td_dephash);
  nested->outer->td_flags.executing = 1;
  thread->th.th_current_task = nested->outer;
  __kmp_free(nested);
}

#endif // KMP_HIERBAR_TASKS_H

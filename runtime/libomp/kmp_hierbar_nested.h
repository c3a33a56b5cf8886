// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_NESTED_H
#define KMP_HIERBAR_NESTED_H

// The implicit task of a region of one thread within another one.
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
// So the inner region gets an implicit task in these cases; else libomp's way is right.

#include "kmp.h"

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
  task.td_flags.reserved31 = 1; // reserved for the library, which has no use for it in any version that we know
#if OMPT_SUPPORT
  task.ompt_task_info = outer->ompt_task_info;
#endif
  outer->td_flags.executing = 0;
  thread->th.th_current_task = &task;
}

// Of kmp_taskdeps.h.
static inline void __kmp_dephash_free(kmp_info_t *thread, kmp_dephash_t *h);

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

#endif // KMP_HIERBAR_NESTED_H

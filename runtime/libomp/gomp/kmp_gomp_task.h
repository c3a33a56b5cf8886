// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_TASK_H
#define KMP_GOMP_TASK_H

// Tasks and taskloops. Called by kmp_gsupport.cpp and, for cancelled tasks, by kmp_tasking.cpp.

#include "kmp.h"
#include "libomp/gomp/kmp_gomp_entry.h"

// The flags of a new task that its construct, priority and detach clauses ask for.
static inline void __kmp_gomp_set_task_flags(unsigned gomp_flags, kmp_tasking_flags_t *flags) {
  flags->priority_specified = (gomp_flags & KMP_GOMP_TASK_PRIORITY) != 0;
  flags->target = (gomp_flags & KMP_GOMP_TASK_TARGET) != 0; // tells a tool
  flags->detachable =
      (gomp_flags & KMP_GOMP_TASK_DETACH) != 0 ? TASK_DETACHABLE : TASK_UNDETACHABLE;
}

// Before the task's data is copied from `data`: gives the task its priority, and its event to where
// the program looks for it.
void __kmp_gomp_set_task_clauses(ident_t *loc, int gtid, kmp_task_t *task, unsigned gomp_flags,
                                 int priority, void *detach, void *data);

int __kmp_taskloop_task(int gtid,
                        void *task); // kmp_tasking.cpp's: makes a part of the tasks of a taskloop

// These run even if they are cancelled: a task whose data the program's own function has copied,
// since it destroys them, and one that makes others, since its taskgroup counts their pattern.
static inline bool __kmp_gomp_must_run(const kmp_taskdata_t *task) {
  return (task->td_flags.native && task->td_copy_func) ||
         ((const kmp_task_t *)(task + 1))->routine == &__kmp_taskloop_task;
}

// GOMP_task with if(0) and detach: the task has ended when this returns.
void __kmp_gomp_wait_for_detachable(void (*func)(void *), void *data,
                                    void (*copy_func)(void *, void *), long arg_size,
                                    long arg_align, unsigned gomp_flags, void **depend,
                                    int priority, void *detach);

// What GOMP_task does in all other cases, LLVM's way. GOMP_task ends with a jump to it, so that its
// frame of 700 bytes is not on the stack below each level of a recursion of tasks that are executed
// at once. Without optimisation there are calls only, and tools would be told an address of ours.
#ifdef __OPTIMIZE__
#define KMP_GOMP_APART static __attribute__((noinline))
#else
#define KMP_GOMP_APART static inline __attribute__((always_inline))
#endif

// GOMP_task where the task is not deferred. Returns false, and has done nothing, if the task may be
// deferred or needs what only LLVM's way has: dependences, an event, a tool that is told.
bool __kmp_gomp_run_at_once(void (*func)(void *), void *data, void (*copy_func)(void *, void *),
                            long arg_size, long arg_align, bool if_cond, unsigned gomp_flags);

// GOMP_taskloop and GOMP_taskloop_ull.
void __kmp_gomp_taskloop(void (*func)(void *), void *data, void (*copy_func)(void *, void *),
                         long arg_size, long arg_align, unsigned flags, unsigned long num_tasks,
                         int priority, long start, long end, long step);
void __kmp_gomp_taskloop(void (*func)(void *), void *data, void (*copy_func)(void *, void *),
                         long arg_size, long arg_align, unsigned flags, unsigned long num_tasks,
                         int priority, unsigned long long start, unsigned long long end,
                         unsigned long long step);

#endif // KMP_GOMP_TASK_H

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Task clauses and constructs with task reductions that GCC compiles to entry points younger than
// LLVM's kmp_gsupport.cpp.

#include "kmp_gomp.h"
#include "kmp_gomp_ompt.h"

void __kmp_gomp_set_task_clauses(ident_t *loc, int gtid, kmp_task_t *task, unsigned gomp_flags, int priority, void *detach,
                                 void *data) {
  if (gomp_flags & KMP_GOMP_TASK_PRIORITY)
    task->data2.priority = priority;
  if (gomp_flags & KMP_GOMP_TASK_DETACH) {
    void *event = __kmpc_task_allow_completion_event(loc, gtid, task);
    *(void **)detach = event;
    // The task has a copy of the handle, which the compiler made the first field of its data.
    if (data)
      *(void **)data = event;
  }
}

// The generated code does not differ from that of a deferred task, and a taskgroup waits for events
// too.
void __kmp_gomp_wait_for_detachable(void (*func)(void *), void *data, void (*copy_func)(void *, void *), long arg_size,
                                    long arg_align, unsigned gomp_flags, void **depend, int priority, void *detach) {
  const kmp_gomp_caller_t caller(__kmp_entry_gtid());
  KMP_EXPAND_NAME(GOMP_taskgroup_start)();
  caller.call_again();
  KMP_EXPAND_NAME(GOMP_task)(func, data, copy_func, arg_size, arg_align, true, gomp_flags, depend, priority, detach);
  caller.call_again();
  KMP_EXPAND_NAME(GOMP_taskgroup_end)();
}

static void do_nothing(void *) {}

extern "C" {

// A task that does nothing but keeps the order of the dependences.
void KMP_EXPAND_NAME(GOMP_taskwait_depend_nowait)(void **depend) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  KMP_EXPAND_NAME(GOMP_task)(do_nothing, NULL, NULL, 0, 0, true, KMP_GOMP_TASK_DEPEND, depend, 0, NULL);
}
KMP_VERSION_SYMBOL(GOMP_taskwait_depend_nowait, 511, "GOMP_5.1.1");

// Called by all threads of the team, and only if the scope has task reductions.
void KMP_EXPAND_NAME(GOMP_scope_start)(uintptr_t *reductions) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  // Without a place for the bounds of a first chunk, this registers the reductions as those of a
  // worksharing construct, and does no more.
  KMP_EXPAND_NAME(GOMP_loop_start)(0, 0, 0, 0, 0, NULL, NULL, reductions, NULL);
}
KMP_VERSION_SYMBOL(GOMP_scope_start, 51, "GOMP_5.1");

} // extern "C"

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "libomp/kmp_hierbar_caller.h"

// libomp marks a team without a function by NULL or by ~0.
static bool is_of_program(const void *function) {
  return function != NULL && function != (const void *)~(kmp_uintptr_t)0 &&
         !__kmp_hierbar_is_own_code(function);
}

void *__kmp_hierbar_running_function(const kmp_info_t *thread) {
  const kmp_taskdata_t *task = thread->th.th_current_task;
  const void *function = NULL;
  if (task != NULL && task->td_flags.tasktype == TASK_EXPLICIT) {
    function = (const void *)(KMP_TASKDATA_TO_TASK(task))->routine;
  } else if (const kmp_team_t *team = thread->th.th_team) {
    function = (const void *)team->t.t_pkfn;
    // For GCC's regions libomp runs a function of its own, whose first argument is the program's.
    if (function != NULL && __kmp_hierbar_is_own_code(function) && team->t.t_argc > 0)
      function = team->t.t_argv[0];
  }
  return is_of_program(function) ? (char *)function + 1 : NULL;
}

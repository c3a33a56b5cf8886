// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_REGION_H
#define KMP_HIERBAR_REGION_H

// A lean way through a parallel region that is like the one before (docs/design/regions.md#d0110).
//
// libomp's way through a region takes a lock, makes the team anew and reads what the primary wrote
// one line after the other. Where the same team runs again under the same settings all of that
// comes out as it was. The lean way leaves it out. What it must do itself:
//
//   1. The primary compares its record of the last ordinary region with the present state
//      (is_unchanged() in kmp_hierbar_region.cpp). Any difference: libomp's own way, which makes a
//      new record.
//   2. It releases the workers with the function and its arguments in the line of b_go. Leaders
//      pass that line on along the plan. Nobody resets b_go until the next ordinary release
//      (docs/design/regions.md#d0115).
//   3. Everybody renews its own implicit task and takes the other task team, as after any fork.
//   4. The join is the gather of every other region.
//
// Of the outermost level only, where the primary is the initial thread or one that the program
// made.
//
// Called by kmp_csupport.cpp and kmp_gsupport.cpp.

#include "kmp.h"
#include "libomp/kmp_hierbar_settings.h"
#include "libomp/region/kmp_hierbar_region_record.h"

static inline void __kmp_hierbar_note_decline(const kmp_info_t *thread, kmp_int32 argc) {
  if (UNLIKELY(__kmp_hierbar_verbose))
    __kmp_hierbar_find_reason(thread, argc);
}

// False where the region that begins is nested or has no record that it could be like. Asked first,
// so that these regions lose no time here.
static inline bool __kmp_hierbar_may_repeat(int gtid, kmp_int32 argc) {
  const kmp_info_t *thread = __kmp_threads[gtid];
  if (thread->th.th_hierbar_may_repeat && thread->th.th_team == thread->th.th_root->r.r_root_team)
    return true;
  __kmp_hierbar_note_decline(thread, argc);
  return false;
}

// Runs a parallel region from its fork to its join, and returns true, if it is like the one before.
// False: nothing has been done, the region goes libomp's way. `args`
// holds KMP_HIERBAR_MAX_ARGS pointers, the first `argc` of which are arguments. To be called where
// __kmp_hierbar_may_repeat().
bool __kmp_hierbar_run_region(ident_t *loc, int gtid, kmp_int32 argc, microtask_t microtask,
                              void **args);

static inline bool __kmp_hierbar_region(ident_t *loc, int gtid, kmp_int32 argc,
                                        microtask_t microtask, kmp_va_list ap) {
  if (!__kmp_hierbar_may_repeat(gtid, argc))
    return false;
  void *args[KMP_HIERBAR_MAX_ARGS] = {};
  for (int i = 0; i < argc && i < KMP_HIERBAR_MAX_ARGS; ++i)
    args[i] = va_arg(kmp_va_deref(ap), void *);
  return __kmp_hierbar_run_region(loc, gtid, argc, microtask, args);
}

// For the entry points of GCC's programs. Returns the number of threads; 0: not run.
static inline unsigned __kmp_hierbar_gomp_region(ident_t *loc, int gtid, unsigned num_threads,
                                                 unsigned proc_bind, microtask_t microtask,
                                                 void (*task)(void *), void *data) {
  if (!__kmp_hierbar_lean_regions || !__kmp_hierbar_may_repeat(gtid, 2))
    return 0;
  if (num_threads != 0)
    __kmp_push_num_threads(loc, gtid, num_threads);
  if (proc_bind != 0)
    __kmp_push_proc_bind(loc, gtid, (kmp_proc_bind_t)proc_bind);
  void *args[KMP_HIERBAR_MAX_ARGS] = {(void *)task, data};
  return __kmp_hierbar_run_region(loc, gtid, 2, microtask, args) ? __kmp_hierbar_region_size(gtid)
                                                                 : 0;
}

// The worker has seen b_go. Runs a lean region to its arrival at the join, and returns true; false:
// the release was an ordinary one, or the library shuts down.
bool __kmp_hierbar_run_released_region(kmp_info_t *this_thr, int gtid);

#endif // KMP_HIERBAR_REGION_H

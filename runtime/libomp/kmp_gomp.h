// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_H
#define KMP_GOMP_H

// What libomp lacks for programs that GCC compiled; GOMP.md lists every entry point. LLVM's kmp_gsupport.cpp has the older ones.
// The patch calls
//
//   kmp_gsupport.cpp   __kmp_gomp_*                  clauses that came with later versions of GCC, target regions
//   kmp_runtime.cpp    __kmp_gomp_find_league        the teams of a target region
//
// and adds GCC's newer version names to exports_so.txt.

#include "kmp.h"

// Bits of the flags of GOMP_task and of GOMP_target_ext and its like.
enum { KMP_GOMP_TASK_DEPEND = 1 << 3, KMP_GOMP_TASK_PRIORITY = 1 << 4, KMP_GOMP_TASK_DETACH = 1 << 13 };
enum { KMP_GOMP_TARGET_NOWAIT = 1 << 0 };

// ---- tasks ----

// The flags of a new task that priority and detach clauses ask for.
static inline void __kmp_gomp_set_task_flags(unsigned gomp_flags, kmp_tasking_flags_t *flags) {
  flags->priority_specified = (gomp_flags & KMP_GOMP_TASK_PRIORITY) != 0;
  flags->detachable = (gomp_flags & KMP_GOMP_TASK_DETACH) != 0 ? TASK_DETACHABLE : TASK_UNDETACHABLE;
}

// Before the task's data is copied from `data`: gives the task its priority, and its event to where the program looks for it.
void __kmp_gomp_set_task_clauses(ident_t *loc, int gtid, kmp_task_t *task, unsigned gomp_flags, int priority, void *detach,
                                 void *data);

// GOMP_task with if(0) and detach: the task has ended when this returns.
void __kmp_gomp_wait_for_detachable(void (*func)(void *), void *data, void (*copy_func)(void *, void *), long arg_size,
                                    long arg_align, unsigned gomp_flags, void **depend, int priority, void *detach);

// ---- worksharing constructs ----

// *mem is a size, and becomes the address of that much memory of the team's for the construct, at first 0.
void __kmp_gomp_share_memory(int gtid, void **mem);

// ---- target regions, which run on the host ----

void __kmp_gomp_target(int device, void (*fn)(void *), void **hostaddrs);

// The upper bound of the threads of regions in the current task; 0: none is asked for.
void __kmp_gomp_limit_threads(unsigned thread_limit);

typedef kmp_base_info_t::kmp_gomp_league kmp_gomp_league_t;

// The league that GOMP_teams4 runs and in which the calling thread is, NULL if there is none.
const kmp_gomp_league_t *__kmp_gomp_find_league();

// ---- entry points that others here call ----

extern "C" {
void KMP_EXPAND_NAME(GOMP_task)(void (*func)(void *), void *data, void (*copy_func)(void *, void *), long arg_size,
                                long arg_align, bool if_cond, unsigned gomp_flags, void **depend, int priority, void *detach);
void KMP_EXPAND_NAME(GOMP_taskgroup_start)(void);
void KMP_EXPAND_NAME(GOMP_taskgroup_end)(void);
void KMP_EXPAND_NAME(GOMP_taskwait_depend)(void **depend);
void KMP_EXPAND_NAME(GOMP_taskwait_depend_nowait)(void **depend);
bool KMP_EXPAND_NAME(GOMP_loop_start)(long start, long end, long incr, long sched, long chunk_size, long *istart, long *iend,
                                      uintptr_t *reductions, void **mem);
int KMP_EXPAND_NAME(omp_get_initial_device)(void);
}

// Exports __kmp_gomp_<name> as <name>, for programs that were linked with that version of GCC's, and no others.
#define KMP_GOMP_EXPORT(name, version) KMP_GOMP_EXPORT_AS(name, name, version)
#ifdef KMP_USE_VERSION_SYMBOLS
#define KMP_GOMP_EXPORT_AS(function, name, version) __asm__(".symver __kmp_gomp_" #function "," #name "@" version)
#else
#define KMP_GOMP_EXPORT_AS(function, name, version)
#endif

#endif // KMP_GOMP_H

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_ENTRY_H
#define KMP_GOMP_ENTRY_H

// Entry points of GCC's library: those of LLVM's kmp_gsupport.cpp and ours that are called here,
// how ours are exported, and what keeps their data over a fork().

#include "kmp.h"
#include "kmp_lock.h"

#include <pthread.h>

// Bits of the flags of GOMP_task and of GOMP_target_ext and its like.
enum {
  KMP_GOMP_TASK_UNTIED = 1 << 0,
  KMP_GOMP_TASK_FINAL = 1 << 1,
  KMP_GOMP_TASK_DEPEND = 1 << 3,
  KMP_GOMP_TASK_PRIORITY = 1 << 4,
  KMP_GOMP_TASK_DETACH = 1 << 13,
  KMP_GOMP_TASK_TARGET = 1 << 30 // ours: the task of a target construct
};
enum { KMP_GOMP_TARGET_NOWAIT = 1 << 0 };

extern "C" {
void KMP_EXPAND_NAME(GOMP_task)(void (*func)(void *), void *data, void (*copy_func)(void *, void *),
                                long arg_size, long arg_align, bool if_cond, unsigned gomp_flags,
                                void **depend, int priority, void *detach);
void KMP_EXPAND_NAME(GOMP_taskgroup_start)(void);
void KMP_EXPAND_NAME(GOMP_taskgroup_end)(void);
void KMP_EXPAND_NAME(GOMP_taskgroup_reduction_register)(uintptr_t *data);
void KMP_EXPAND_NAME(GOMP_taskwait_depend)(void **depend);
void KMP_EXPAND_NAME(GOMP_taskwait_depend_nowait)(void **depend);
bool KMP_EXPAND_NAME(GOMP_loop_start)(long start, long end, long incr, long sched, long chunk_size,
                                      long *istart, long *iend, uintptr_t *reductions, void **mem);
void KMP_EXPAND_NAME(GOMP_scope_start)(uintptr_t *reductions);
int KMP_EXPAND_NAME(omp_get_initial_device)(void);
int KMP_EXPAND_NAME(omp_get_num_teams)(void);
int KMP_EXPAND_NAME(omp_get_team_num)(void);
int __kmp_gomp_omp_control_tool(int command, int modifier, void *arg);
}

// Exports __kmp_gomp_<name> as <name>, for programs that were linked with that version of GCC's,
// and no others.
#define KMP_GOMP_EXPORT(name, version) KMP_GOMP_EXPORT_AS(name, name, version)
#ifdef KMP_USE_VERSION_SYMBOLS
#define KMP_GOMP_EXPORT_AS(function, name, version)                                                \
  __asm__(".symver __kmp_gomp_" #function "," #name "@" version)
#else
#define KMP_GOMP_EXPORT_AS(function, name, version)
#endif

// ---- fork() ----

// Takes a lock for the time of a fork(), so that the child does not find it held, or what it guards
// half changed, by a thread that the child does not have. The child makes it anew: threads of the
// parent that waited for it have drawn numbers, which nobody would serve.
//
// To be called when the library is loaded. Handlers run before a fork() in reverse order, so
// libomp's come first, which it registers when it is initialised. Who forks then holds libomp's
// lock for forks and joins of teams when it takes this one, as all do who hold both.
template <kmp_bootstrap_lock_t *lock> void __kmp_gomp_keep_over_fork() {
  pthread_atfork([] { __kmp_acquire_bootstrap_lock(lock); },
                 [] { __kmp_release_bootstrap_lock(lock); },
                 [] { __kmp_init_bootstrap_lock(lock); });
}

#endif // KMP_GOMP_ENTRY_H

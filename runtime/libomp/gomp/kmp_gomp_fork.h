// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_FORK_H
#define KMP_GOMP_FORK_H

#include "kmp.h"
#include "kmp_lock.h"

#include <pthread.h>

// Takes a lock for the time of a fork(), so that the child does not find it held, or what it guards
// half changed, by a thread that the child does not have. The child makes it anew: threads of the
// parent that waited for it have drawn numbers, which nobody would serve.
//
// To be called when the library is loaded. Handlers run before a fork() in reverse order, so libomp's
// come first, which it registers when it is initialised. Who forks then holds libomp's lock for forks
// and joins of teams when it takes this one, as all do who hold both.
template <kmp_bootstrap_lock_t *lock> void __kmp_gomp_keep_over_fork() {
  pthread_atfork([] { __kmp_acquire_bootstrap_lock(lock); }, [] { __kmp_release_bootstrap_lock(lock); },
                 [] { __kmp_init_bootstrap_lock(lock); });
}

#endif // KMP_GOMP_FORK_H

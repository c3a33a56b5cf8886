// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Roots that have ended: threads that began regions of their own, and are gone.
//
// A root's tasks, and what it got from omp_alloc() or kmp_malloc(), lie in memory that belongs to
// its kmp_info_t. Who frees such a block gives it back there, without a lock: a worker that has run
// a task keeps up to 16 blocks (th_free_list_other) and returns them when it gets one of somebody
// else's, which may be after the root has ended. So the structure of a root is never freed while
// the library is at work. The next root gets it, with the memory in it. There are as many as there
// were roots at one time.
//
// A forked child goes on with what its parent kept: the thread that forks holds the lock, and a
// block that a worker gives back meanwhile is linked by one store.
//
// Taking the blocks away from the workers at the root's end, as an alternative, would need a lock
// in each of their frees.

#include "process/kmp_hierbar_process.h"

#include <string.h>

static kmp_info_t *kept = NULL; // linked by th_next_pool, which roots have no other use for

// In the middle of what is cleared lie words that other threads may write at the same time.
static void clear(void *begin, void *end) { memset(begin, 0, (char *)end - (char *)begin); }

static void clear_all_but_memory(kmp_info_t *root) {
  kmp_local_t &local = root->th.th_local;
  auto &lists = root->th.th_free_lists;
  KMP_DEBUG_ASSERT((void *)&local < (void *)&lists);
  clear(root, &local.bget_data);
  clear(&local.bget_list + 1, &lists);
  clear(&lists + 1, root + 1);
}

static_assert(offsetof(kmp_local_t, bget_list) == offsetof(kmp_local_t, bget_data) + sizeof(void *),
              "clear_all_but_memory() leaves these two words, and what lies between");

kmp_info_t *__kmp_hierbar_take_root() {
  kmp_info_t *root = kept;
  if (root == NULL)
    return (kmp_info_t *)__kmp_allocate(sizeof(kmp_info_t));
  kept = root->th.th_next_pool;
  clear_all_but_memory(root);
  return root;
}

void __kmp_hierbar_keep_root(kmp_info_t *root) {
  root->th.th_next_pool = kept;
  kept = root;
}

void __kmp_hierbar_free_roots() {
  if (__kmp_all_nth != 0)
    return;
  while (kmp_info_t *root = kept) {
    kept = root->th.th_next_pool;
    __kmp_free_fast_memory(root);
    __kmp_finalize_bget(root);
    __kmp_free(root);
  }
}

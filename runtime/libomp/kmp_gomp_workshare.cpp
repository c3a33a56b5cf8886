// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory that the threads of a team share during one worksharing construct: GCC asks for it for scans and for
// lastprivate(conditional:).
//
// All threads of a team count the same constructs, so that team and count name one. The first thread to ask for its memory puts a
// block into the list, the last one takes it out. Nothing tells the end of a construct that nobody waits for; but a thread has
// left a construct when it asks for the next one's memory, and then gives up the one that it had. The block of its last construct
// stays with the thread.

#include "kmp_gomp.h"

struct kmp_gomp_memory {
  kmp_gomp_memory *next; // in the list
  kmp_team_t *team;
  kmp_int32 construct;
  int askers_to_come; // > 0: in the list
  int users;          // freed at 0
  alignas(CACHE_LINE) char bytes[];
};

// The lock guards the list and all blocks' numbers.
static KMP_BOOTSTRAP_LOCK_INIT(lock);
static kmp_gomp_memory *blocks = NULL;

static kmp_gomp_memory *take(kmp_team_t *team, kmp_int32 construct, int num_threads, size_t size) {
  kmp_gomp_memory **place = &blocks;
  while (*place && ((*place)->team != team || (*place)->construct != construct))
    place = &(*place)->next;
  if (!*place) {
    kmp_gomp_memory *block = (kmp_gomp_memory *)__kmp_allocate(sizeof(kmp_gomp_memory) + size); // of zeros
    block->team = team;
    block->construct = construct;
    block->askers_to_come = block->users = num_threads;
    *place = block;
  }
  kmp_gomp_memory *block = *place;
  if (--block->askers_to_come == 0)
    *place = block->next;
  return block;
}

void __kmp_gomp_share_memory(int gtid, void **mem) {
  static ident_t loc = {0, KMP_IDENT_KMPC, 0, 0, ";unknown;unknown;0;0;;"};
  kmp_info_t *thread = __kmp_threads[gtid];
  __kmp_enter_single(gtid, &loc, FALSE); // counts the construct, for the team too
  __kmp_acquire_bootstrap_lock(&lock);
  kmp_gomp_memory *left = thread->th.th_gomp_memory;
  const bool is_unused = left && --left->users == 0;
  thread->th.th_gomp_memory =
      take(thread->th.th_team, thread->th.th_local.this_construct, thread->th.th_team_nproc, (size_t)*mem);
  __kmp_release_bootstrap_lock(&lock);
  if (is_unused)
    __kmp_free(left);
  *mem = thread->th.th_gomp_memory->bytes;
}

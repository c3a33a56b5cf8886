// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory that the threads of a team share during one worksharing construct: GCC asks for it for
// scans and for lastprivate(conditional:).
//
// All threads of a team count the same constructs, so that their number names one. The first thread
// to ask for its memory puts a block into the team's list, the last one takes it out. Nothing tells
// the end of a construct that nobody waits for; but a thread has left a construct when it asks for
// the memory of another one that is not in a region inside, and then gives up what it held. What a
// thread holds last it keeps.
//
// Who leaves a region by cancellation does not come to the constructs that others are in. Their
// blocks are still in the list when the region ends, and the next region counts from 0 again. So
// the list is emptied before that.

#include "kmp_gomp.h"
#include "kmp_gomp_fork.h"

struct kmp_gomp_block {
  kmp_gomp_block *next; // in the list
  const kmp_team_t *team;
  kmp_int32 construct;
  int level;               // tells serialized regions of one team apart
  int askers_to_come;      // > 0: in the list
  int users;               // freed at 0
  void (*abandon)(void *); // frees what the bytes lead to, if not all threads have asked
  alignas(CACHE_LINE) char bytes[];
};

// What one thread holds, the innermost construct's first.
struct kmp_gomp_memory {
  kmp_gomp_memory *next;
  kmp_gomp_block *block;
};

// The lock guards the lists and the numbers of all blocks. A forked child has none: they belong to
// teams and threads that it does not take over.
static KMP_BOOTSTRAP_LOCK_INIT(lock);

__attribute__((constructor)) static void keep_lock_over_fork() { __kmp_gomp_keep_over_fork<&lock>(); }

static kmp_gomp_block *take(kmp_team_t *team, kmp_int32 construct, int num_threads, size_t size, void (*abandon)(void *)) {
  kmp_gomp_block **place = &team->t.t_gomp_blocks;
  while (*place && (*place)->construct != construct)
    place = &(*place)->next;
  if (!*place) {
    kmp_gomp_block *block = (kmp_gomp_block *)__kmp_allocate(sizeof(kmp_gomp_block) + size); // of zeros
    block->team = team;
    block->construct = construct;
    block->level = team->t.t_level;
    block->askers_to_come = block->users = num_threads;
    block->abandon = abandon;
    *place = block;
  }
  kmp_gomp_block *block = *place;
  if (--block->askers_to_come == 0)
    *place = block->next;
  return block;
}

// The team works in a region inside the block's construct.
static bool is_inside(const kmp_team_t *team, const kmp_gomp_block *block) {
  if (team == block->team)
    return team->t.t_level > block->level;
  while (team && team != block->team)
    team = team->t.t_parent;
  return team != NULL;
}

static void drop_users(kmp_gomp_block *block, int num_users) {
  block->users -= num_users;
  if (block->users == 0)
    __kmp_free(block);
}

static void give_up_left_constructs(kmp_info_t *thread) {
  kmp_gomp_memory **place = &thread->th.th_gomp_memory;
  while (kmp_gomp_memory *held = *place) {
    if (is_inside(thread->th.th_team, held->block)) {
      place = &held->next;
      continue;
    }
    *place = held->next;
    drop_users(held->block, 1);
    __kmp_free(held);
  }
}

void __kmp_gomp_share_memory(int gtid, void **mem, void (*abandon)(void *)) {
  static ident_t loc = {0, KMP_IDENT_KMPC, 0, 0, ";unknown;unknown;0;0;;"};
  kmp_info_t *thread = __kmp_threads[gtid];
  __kmp_enter_single(gtid, &loc, FALSE); // counts the construct, for the team too
  kmp_gomp_memory *held = (kmp_gomp_memory *)__kmp_allocate(sizeof(kmp_gomp_memory));
  __kmp_acquire_bootstrap_lock(&lock);
  give_up_left_constructs(thread);
  held->block = take(thread->th.th_team, thread->th.th_local.this_construct, thread->th.th_team_nproc, (size_t)*mem, abandon);
  __kmp_release_bootstrap_lock(&lock);
  held->next = thread->th.th_gomp_memory;
  thread->th.th_gomp_memory = held;
  *mem = held->block->bytes;
}

void __kmp_gomp_forget_memory(kmp_team_t *team) {
  if (!team->t.t_gomp_blocks)
    return;
  __kmp_acquire_bootstrap_lock(&lock);
  while (kmp_gomp_block *block = team->t.t_gomp_blocks) {
    team->t.t_gomp_blocks = block->next;
    if (block->abandon)
      block->abandon(block->bytes);
    drop_users(block, block->askers_to_come);
  }
  __kmp_release_bootstrap_lock(&lock);
}

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory that the threads of a team share during one worksharing construct: GCC asks for it for
// scans and for lastprivate(conditional:).
//
// All threads of a team count the same constructs, so that team and count name one. The first
// thread to ask for its memory puts a block into the list, the last one takes it out. Nothing tells
// the end of a construct that nobody waits for; but a thread has left a construct when it asks for
// the memory of another one that is not in a region inside, and then gives up what it held. What a
// thread holds last it keeps.

#include "kmp_gomp.h"

namespace {

struct block_t {
  block_t *next; // in the list
  kmp_team_t *team;
  kmp_int32 construct;
  int level;          // tells serialized regions of one team apart
  int askers_to_come; // > 0: in the list
  int users;          // freed at 0
  alignas(CACHE_LINE) char bytes[];
};

} // namespace

// What one thread holds, the innermost construct's first.
struct kmp_gomp_memory {
  kmp_gomp_memory *next;
  block_t *block;
};

// The lock guards the list and the numbers of all blocks.
static KMP_BOOTSTRAP_LOCK_INIT(lock);
static block_t *blocks = NULL;

static block_t *take(kmp_team_t *team, kmp_int32 construct, int num_threads, size_t size) {
  block_t **place = &blocks;
  while (*place && ((*place)->team != team || (*place)->construct != construct))
    place = &(*place)->next;
  if (!*place) {
    block_t *block = (block_t *)__kmp_allocate(sizeof(block_t) + size); // of zeros
    block->team = team;
    block->construct = construct;
    block->level = team->t.t_level;
    block->askers_to_come = block->users = num_threads;
    *place = block;
  }
  block_t *block = *place;
  if (--block->askers_to_come == 0)
    *place = block->next;
  return block;
}

// The team works in a region inside the block's construct.
static bool is_inside(kmp_team_t *team, const block_t *block) {
  if (team == block->team)
    return team->t.t_level > block->level;
  while (team && team != block->team)
    team = team->t.t_parent;
  return team != NULL;
}

static void give_up_left_constructs(kmp_info_t *thread) {
  kmp_gomp_memory **place = &thread->th.th_gomp_memory;
  while (kmp_gomp_memory *held = *place) {
    if (is_inside(thread->th.th_team, held->block)) {
      place = &held->next;
      continue;
    }
    *place = held->next;
    if (--held->block->users == 0)
      __kmp_free(held->block);
    __kmp_free(held);
  }
}

void __kmp_gomp_share_memory(int gtid, void **mem) {
  static ident_t loc = {0, KMP_IDENT_KMPC, 0, 0, ";unknown;unknown;0;0;;"};
  kmp_info_t *thread = __kmp_threads[gtid];
  __kmp_enter_single(gtid, &loc, FALSE); // counts the construct, for the team too
  kmp_gomp_memory *held = (kmp_gomp_memory *)__kmp_allocate(sizeof(kmp_gomp_memory));
  __kmp_acquire_bootstrap_lock(&lock);
  give_up_left_constructs(thread);
  held->block = take(thread->th.th_team, thread->th.th_local.this_construct, thread->th.th_team_nproc, (size_t)*mem);
  __kmp_release_bootstrap_lock(&lock);
  held->next = thread->th.th_gomp_memory;
  thread->th.th_gomp_memory = held;
  *mem = held->block->bytes;
}

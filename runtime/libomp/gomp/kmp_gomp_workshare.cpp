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

#include "libomp/gomp/kmp_gomp_workshare.h"

#include <atomic>
#include <new>

#include "kmp_io.h"
#include "libomp/gomp/kmp_gomp_ompt.h"
#include "libomp/gomp/kmp_gomp_entry.h"

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

__attribute__((constructor)) static void keep_lock_over_fork() {
  __kmp_gomp_keep_over_fork<&lock>();
}

static kmp_gomp_block *take(kmp_team_t *team, kmp_int32 construct, int num_threads, size_t size,
                            void (*abandon)(void *)) {
  kmp_gomp_block **place = &team->t.t_gomp_blocks;
  while (*place && (*place)->construct != construct)
    place = &(*place)->next;
  if (!*place) {
    kmp_gomp_block *block =
        (kmp_gomp_block *)__kmp_allocate(sizeof(kmp_gomp_block) + size); // of zeros
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
  held->block = take(thread->th.th_team, thread->th.th_local.this_construct,
                     thread->th.th_team_nproc, (size_t)*mem, abandon);
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

// ---- task reductions ----

// Task reductions of programs that GCC compiled.
//
// The program describes the variables of a construct in a table, or in several that are chained.
// For each thread of the team it wants a block of memory, at first zero, in which each variable has
// its place. A task that takes part asks for the address of a variable's place in its thread's
// block. The taskgroup of the construct has the tables.
//
// The threads of a team that meet a worksharing construct or a scope with task reductions have a
// table each, and share the blocks. All of them are in one piece of memory, so that the address of
// it is all that the first thread tells the others.

namespace {

// What the program writes down, and we complete.
struct table_t {
  uintptr_t num_variables;
  uintptr_t block_size; // of one thread, a multiple of the alignment
  uintptr_t memory;     // of all threads; before it is registered: its alignment
  uintptr_t allocator;  // not used; the default one serves
  table_t *next;
  uintptr_t
      is_workshare; // KMP_GOMP_TABLE_IS_WORKSHARE; GCC's library has something of its own there
  uintptr_t memory_end;
  struct variable_t {
    uintptr_t original, offset, unused;
  } variables[];

  bool has_in_a_block(uintptr_t address) const { return address >= memory && address < memory_end; }
};
static_assert(sizeof(table_t) == 7 * sizeof(uintptr_t), "GCC writes words");

// In front of the memory of a registration.
struct header_t {
  void *allocated;
  std::atomic<int> num_left; // threads that have left the worksharing construct
};

header_t *header_of(const table_t *tables) { return (header_t *)tables->memory - 1; }

uintptr_t align(uintptr_t value, uintptr_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// The tables' places in memory that begins there; `apply` sets them. Returns where it ends.
uintptr_t lay_out(table_t *tables, int num_threads, uintptr_t begin, bool apply,
                  bool is_workshare = false) {
  for (table_t *table = tables; table; table = table->next) {
    begin = align(begin, KMP_MAX(table->memory, (uintptr_t)1));
    const uintptr_t end = begin + table->block_size * num_threads;
    if (apply) {
      table->memory = begin;
      table->memory_end = end;
      table->is_workshare = is_workshare;
    }
    begin = end;
  }
  return begin;
}

// Returns memory for the tables, with its header, at first zero.
uintptr_t allocate(table_t *tables, int num_threads) {
  uintptr_t alignment = CACHE_LINE;
  for (table_t *table = tables; table; table = table->next)
    alignment = KMP_MAX(alignment, table->memory);
  // Aligned for all tables, the layout does not depend on where it begins.
  const size_t size = sizeof(header_t) + alignment + lay_out(tables, num_threads, alignment, false);
  void *allocated = __kmp_allocate(size);
  const uintptr_t begin = align((uintptr_t)allocated + sizeof(header_t), alignment);
  new ((header_t *)begin - 1) header_t{allocated, {0}};
  return begin;
}

// The registered table with this variable, or with the place of one, from the innermost taskgroup
// outwards.
struct found_t {
  const table_t *table;
  uintptr_t offset, original;
};

found_t find_in(const table_t *table, uintptr_t address) {
  const bool is_place = table->has_in_a_block(address);
  const uintptr_t offset = is_place ? (address - table->memory) % table->block_size : 0;
  for (uintptr_t i = 0; i < table->num_variables; ++i) {
    const table_t::variable_t &variable = table->variables[i];
    if (is_place ? variable.offset == offset : variable.original == address)
      return {table, variable.offset, variable.original};
  }
  // A part of a variable, for instance an element of an array.
  return is_place ? found_t{table, offset, 0} : found_t{NULL, 0, 0};
}

found_t find(const kmp_taskgroup_t *taskgroup, uintptr_t address) {
  for (; taskgroup; taskgroup = taskgroup->parent)
    for (const table_t *table = (const table_t *)taskgroup->gomp_data; table; table = table->next) {
      const found_t found = find_in(table, address);
      if (found.table)
        return found;
    }
  __kmp_printf("OMP: Error: a task takes part in a reduction of %p, but no taskgroup around it has "
               "that reduction\n",
               (void *)address);
  __kmp_abort_process();
  return {};
}

// The value while the first thread of a worksharing construct allocates the memory.
const uintptr_t being_allocated = 1;

} // namespace

void __kmp_gomp_register_reductions(uintptr_t *data, int num_threads) {
  table_t *tables = (table_t *)data;
  lay_out(tables, num_threads, allocate(tables, num_threads), true);
}

void __kmp_gomp_unregister_reductions(uintptr_t *data) {
  __kmp_free(header_of((table_t *)data)->allocated);
}

// Of a worksharing construct that not all threads have come to, so that its last one has not left
// it. The first one has stored where the memory begins.
static void free_abandoned(void *shared) {
  const uintptr_t begin = ((std::atomic<uintptr_t> *)shared)->load(std::memory_order_relaxed);
  __kmp_free(((header_t *)begin - 1)->allocated);
}

void __kmp_gomp_start_workshare_reductions(int gtid, uintptr_t *data) {
  kmp_info_t *thread = __kmp_threads[gtid];
  table_t *tables = (table_t *)data;
  const kmp_gomp_caller_t caller(gtid);
  __kmpc_taskgroup(NULL, gtid);
  caller.call_again(); // the entry point goes on
  void *shared = (void *)sizeof(std::atomic<uintptr_t>);
  __kmp_gomp_share_memory(gtid, &shared, free_abandoned);
  std::atomic<uintptr_t> *memory = (std::atomic<uintptr_t> *)shared;
  uintptr_t begin = 0;
  // (R1) release store of the memory's address; pairs with (R2), the acquire loads of the others,
  // who then see it zeroed.
  if (memory->compare_exchange_strong(begin, being_allocated, std::memory_order_acquire)) {
    begin = allocate(tables, thread->th.th_team_nproc);
    memory->store(begin, std::memory_order_release);
  }
  while (begin == being_allocated) {
    KMP_YIELD_OVERSUB();
    begin = memory->load(std::memory_order_acquire); // (R2)
  }
  lay_out(tables, thread->th.th_team_nproc, begin, true, true);
  thread->th.th_current_task->td_taskgroup->gomp_data = data;
}

void __kmp_gomp_end_workshare_reductions(int gtid) {
  kmp_info_t *thread = __kmp_threads[gtid];
  uintptr_t *data = thread->th.th_current_task->td_taskgroup->gomp_data;
  const kmp_gomp_caller_t caller(gtid);
  __kmpc_end_taskgroup(NULL, gtid);
  caller.call_again(); // the entry point goes on
  // Acquire and release: whoever frees the memory does so after all others have used it.
  if (header_of((table_t *)data)->num_left.fetch_add(1, std::memory_order_acq_rel) ==
      thread->th.th_team_nproc - 1)
    __kmp_gomp_unregister_reductions(data);
}

// ptrs has `count` addresses, which become those of the calling thread. For the first
// `num_originals` the variables' own addresses follow.
void __kmp_gomp_remap_reductions(size_t count, size_t num_originals, void **ptrs) {
  const int tid = __kmp_get_tid();
  const kmp_taskgroup_t *taskgroup = __kmp_entry_thread()->th.th_current_task->td_taskgroup;
  for (size_t i = 0; i < count; ++i) {
    const found_t found = find(taskgroup, (uintptr_t)ptrs[i]);
    ptrs[i] = (void *)(found.table->memory + tid * found.table->block_size + found.offset);
    if (i < num_originals)
      ptrs[count + i] = (void *)found.original;
  }
}

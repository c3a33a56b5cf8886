// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Allocators of programs that GCC compiled.

#include "libomp/gomp/kmp_gomp_memory.h"

#include "kmp_i18n.h"
#include "libomp/gomp/kmp_gomp_entry.h"

bool __kmp_gomp_stand_in(const char *allocator) {
  if (!__kmp_gomp_is_loaded_for_gcc())
    KMP_WARNING(OmpNoAllocator, allocator);
  return true;
}

bool __kmp_gomp_keep_allocator(omp_allocator_handle_t allocator) {
  if (!__kmp_gomp_is_loaded_for_gcc())
    return false;
  __kmp_def_allocator = allocator;
  return true;
}

// ---- memory of Fortran's allocators ----

// Which memory of a Fortran program an allocator gave. The `allocators` construct allocates by
// omp_alloc, but the variable may be deallocated anywhere, by code that does not know where its
// memory is from. With -fopenmp-allocators gfortran 14 therefore registers the memory, and asks
// before it frees or reallocates any.

namespace {

struct entry_t {
  entry_t *next;
  void *memory;
};

// A table of lists. Programs have some arrays of allocators, not millions.
const int num_lists = 1024;
entry_t *lists[num_lists];

entry_t **find_list(void *memory) { return &lists[((uintptr_t)memory >> 4) % num_lists]; }

} // namespace

static KMP_BOOTSTRAP_LOCK_INIT(lock); // guards the table

__attribute__((constructor)) static void keep_lock_over_fork() {
  __kmp_gomp_keep_over_fork<&lock>();
}

extern "C" {

void __kmp_gomp_GOMP_add_alloc(void *memory) {
  if (!memory)
    return;
  __kmp_entry_gtid(); // initialises
  entry_t *entry = (entry_t *)__kmp_allocate(sizeof(entry_t));
  entry_t **list = find_list(memory);
  entry->memory = memory;
  __kmp_acquire_bootstrap_lock(&lock);
  entry->next = *list;
  *list = entry;
  __kmp_release_bootstrap_lock(&lock);
}
KMP_GOMP_EXPORT(GOMP_add_alloc, "GOMP_5.1.2");

// Takes the memory out, since the caller is about to free or move it.
bool __kmp_gomp_GOMP_is_alloc(void *memory) {
  __kmp_acquire_bootstrap_lock(&lock);
  entry_t **place = find_list(memory);
  while (*place && (*place)->memory != memory)
    place = &(*place)->next;
  entry_t *entry = *place;
  if (entry)
    *place = entry->next;
  __kmp_release_bootstrap_lock(&lock);
  if (!entry)
    return false;
  __kmp_free(entry);
  return true;
}
KMP_GOMP_EXPORT(GOMP_is_alloc, "GOMP_5.1.2");

} // extern "C"

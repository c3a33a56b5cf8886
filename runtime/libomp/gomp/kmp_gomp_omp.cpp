// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Functions of OpenMP's API that libomp exports without GCC's versions, under these versions. The
// names without a version, and programs that Clang compiled, keep libomp's. These are functions of
// their own because GNU ld drops one of two symbols of one name and one address if only one of them
// has a version.

#include "kmp.h"
#include "libomp/gomp/kmp_gomp_entry.h"
#include "libomp/gomp/kmp_gomp_ompt.h"

extern "C" {

int KMP_EXPAND_NAME(omp_get_num_threads)(void);
int KMP_EXPAND_NAME(omp_get_thread_num)(void);
int KMP_EXPAND_NAME(omp_get_thread_limit)(void);

// ---- memory ----

omp_allocator_handle_t __kmp_gomp_omp_init_allocator(omp_memspace_handle_t space, int num_traits,
                                                     omp_alloctrait_t *traits) {
  return __kmpc_init_allocator(__kmp_entry_gtid(), space, num_traits, traits);
}
KMP_GOMP_EXPORT(omp_init_allocator, "OMP_5.0.1");

void __kmp_gomp_omp_destroy_allocator(omp_allocator_handle_t allocator) {
  __kmpc_destroy_allocator(__kmp_entry_gtid(), allocator);
}
KMP_GOMP_EXPORT(omp_destroy_allocator, "OMP_5.0.1");

void __kmp_gomp_omp_set_default_allocator(omp_allocator_handle_t allocator) {
  __kmpc_set_default_allocator(__kmp_entry_gtid(), allocator);
}
KMP_GOMP_EXPORT(omp_set_default_allocator, "OMP_5.0.1");

omp_allocator_handle_t __kmp_gomp_omp_get_default_allocator(void) {
  return __kmpc_get_default_allocator(__kmp_entry_gtid());
}
KMP_GOMP_EXPORT(omp_get_default_allocator, "OMP_5.0.1");
KMP_GOMP_EXPORT_AS(omp_get_default_allocator, omp_get_default_allocator_, "OMP_5.0.1");

void *__kmp_gomp_omp_alloc(size_t size, omp_allocator_handle_t allocator) {
  return __kmp_alloc(__kmp_entry_gtid(), 0, size, allocator);
}
KMP_GOMP_EXPORT(omp_alloc, "OMP_5.0.1");

void *__kmp_gomp_omp_aligned_alloc(size_t alignment, size_t size,
                                   omp_allocator_handle_t allocator) {
  return __kmp_alloc(__kmp_entry_gtid(), alignment, size, allocator);
}
KMP_GOMP_EXPORT(omp_aligned_alloc, "OMP_5.0.2");

void *__kmp_gomp_omp_calloc(size_t count, size_t size, omp_allocator_handle_t allocator) {
  return __kmp_calloc(__kmp_entry_gtid(), 0, count, size, allocator);
}
KMP_GOMP_EXPORT(omp_calloc, "OMP_5.0.2");

void *__kmp_gomp_omp_aligned_calloc(size_t alignment, size_t count, size_t size,
                                    omp_allocator_handle_t allocator) {
  return __kmp_calloc(__kmp_entry_gtid(), alignment, count, size, allocator);
}
KMP_GOMP_EXPORT(omp_aligned_calloc, "OMP_5.0.2");

void *__kmp_gomp_omp_realloc(void *address, size_t size, omp_allocator_handle_t allocator,
                             omp_allocator_handle_t old_allocator) {
  return __kmp_realloc(__kmp_entry_gtid(), address, size, allocator, old_allocator);
}
KMP_GOMP_EXPORT(omp_realloc, "OMP_5.0.2");

void __kmp_gomp_omp_free(void *address, omp_allocator_handle_t allocator) {
  ___kmpc_free(__kmp_entry_gtid(), address, allocator);
}
KMP_GOMP_EXPORT(omp_free, "OMP_5.0.1");

// ---- tasks, teams, settings ----

// gfortran passes the event by value.
void __kmp_gomp_omp_fulfill_event(kmp_event_t *event) { __kmp_fulfill_event(event); }
KMP_GOMP_EXPORT(omp_fulfill_event, "OMP_5.0.1");
KMP_GOMP_EXPORT_AS(omp_fulfill_event, omp_fulfill_event_, "OMP_5.0.1");

int __kmp_gomp_omp_in_explicit_task(void) {
  return __kmp_entry_thread()->th.th_current_task->td_flags.tasktype;
}
KMP_GOMP_EXPORT(omp_in_explicit_task, "OMP_5.2");
KMP_GOMP_EXPORT_AS(omp_in_explicit_task, omp_in_explicit_task_, "OMP_5.2");

int __kmp_gomp_omp_get_supported_active_levels(void) { return KMP_MAX_ACTIVE_LEVELS_LIMIT; }
KMP_GOMP_EXPORT(omp_get_supported_active_levels, "OMP_5.0.1");
KMP_GOMP_EXPORT_AS(omp_get_supported_active_levels, omp_get_supported_active_levels_, "OMP_5.0.1");

int __kmp_gomp_omp_get_device_num(void) { return KMP_EXPAND_NAME(omp_get_initial_device)(); }
KMP_GOMP_EXPORT(omp_get_device_num, "OMP_5.0.2");
KMP_GOMP_EXPORT_AS(omp_get_device_num, omp_get_device_num_, "OMP_5.0.2");

void __kmp_gomp_omp_set_num_teams(int num_teams) {
  __kmp_entry_gtid(); // initialises
  __kmp_set_num_teams(num_teams);
}
KMP_GOMP_EXPORT(omp_set_num_teams, "OMP_5.1");

int __kmp_gomp_omp_get_max_teams(void) {
  __kmp_entry_gtid();
  return __kmp_get_max_teams();
}
KMP_GOMP_EXPORT(omp_get_max_teams, "OMP_5.1");
KMP_GOMP_EXPORT_AS(omp_get_max_teams, omp_get_max_teams_, "OMP_5.1");

void __kmp_gomp_omp_set_teams_thread_limit(int limit) {
  __kmp_entry_gtid();
  __kmp_set_teams_thread_limit(limit);
}
KMP_GOMP_EXPORT(omp_set_teams_thread_limit, "OMP_5.1");

int __kmp_gomp_omp_get_teams_thread_limit(void) {
  __kmp_entry_gtid();
  return __kmp_get_teams_thread_limit();
}
KMP_GOMP_EXPORT(omp_get_teams_thread_limit, "OMP_5.1");
KMP_GOMP_EXPORT_AS(omp_get_teams_thread_limit, omp_get_teams_thread_limit_, "OMP_5.1");

void __kmp_gomp_omp_display_env(int verbose) { __kmp_omp_display_env(verbose); }
KMP_GOMP_EXPORT(omp_display_env, "OMP_5.1");

int __kmp_gomp_omp_control_tool(int command, int modifier, void *arg) {
#if OMPT_SUPPORT
  const int gtid = __kmp_entry_gtid();
  if (!TCR_4(__kmp_init_middle))
    __kmp_middle_initialize();
  const kmp_gomp_frame_t frame(__builtin_frame_address(0));
  OMPT_STORE_RETURN_ADDRESS(gtid);
  return __kmp_control_tool(command, modifier, arg);
#else
  return -2; // omp_control_tool_notool
#endif
}
KMP_GOMP_EXPORT(omp_control_tool, "OMP_6.0");

// ---- dimensions of teams and leagues ----

// Teams and leagues have one dimension, whose number is 0. In all others they have the size of 1.

int __kmp_gomp_omp_get_num_threads_dim(int dim) {
  return dim == 0 ? KMP_EXPAND_NAME(omp_get_num_threads)() : 1;
}
KMP_GOMP_EXPORT(omp_get_num_threads_dim, "OMP_6.1");

int __kmp_gomp_omp_get_thread_num_dim(int dim) {
  return dim == 0 ? KMP_EXPAND_NAME(omp_get_thread_num)() : 0;
}
KMP_GOMP_EXPORT(omp_get_thread_num_dim, "OMP_6.1");

int __kmp_gomp_omp_get_thread_limit_dim(int dim) {
  return dim == 0 ? KMP_EXPAND_NAME(omp_get_thread_limit)() : 1;
}
KMP_GOMP_EXPORT(omp_get_thread_limit_dim, "OMP_6.1");

int __kmp_gomp_omp_get_num_teams_dim(int dim) {
  return dim == 0 ? KMP_EXPAND_NAME(omp_get_num_teams)() : 1;
}
KMP_GOMP_EXPORT(omp_get_num_teams_dim, "OMP_6.1");

int __kmp_gomp_omp_get_team_num_dim(int dim) {
  return dim == 0 ? KMP_EXPAND_NAME(omp_get_team_num)() : 0;
}
KMP_GOMP_EXPORT(omp_get_team_num_dim, "OMP_6.1");

} // extern "C"

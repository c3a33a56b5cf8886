// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What gfortran calls: arguments by reference, and integers of 8 bytes in the forms with _8_, to
// which -fdefault-integer-8 leads. For programs linked with GCC's versions only: some of these
// names have other arguments in libomp's Fortran interface.

#include "kmp.h"
#include "libomp/gomp/kmp_gomp_entry.h"
#include "libomp/gomp/kmp_gomp_ompt.h"

// A value that no integer of libomp holds means the nearest one that does.
static int narrow(const kmp_int64 *value) {
  return (int)KMP_MAX(KMP_MIN(*value, (kmp_int64)INT_MAX), (kmp_int64)INT_MIN);
}

extern "C" {

void KMP_EXPAND_NAME(omp_set_num_threads)(int num_threads);
void KMP_EXPAND_NAME(omp_set_dynamic)(int flag);
void KMP_EXPAND_NAME(omp_set_nested)(int flag);
void KMP_EXPAND_NAME(omp_set_schedule)(kmp_sched_t kind, int chunk);
void KMP_EXPAND_NAME(omp_get_schedule)(kmp_sched_t *kind, int *chunk);
void KMP_EXPAND_NAME(omp_set_max_active_levels)(int levels);
int KMP_EXPAND_NAME(omp_get_ancestor_thread_num)(int level);
int KMP_EXPAND_NAME(omp_get_team_size)(int level);
void KMP_EXPAND_NAME(omp_set_default_device)(int device);
int KMP_EXPAND_NAME(omp_get_num_places)(void);
int KMP_EXPAND_NAME(omp_get_place_num_procs)(int place);
void KMP_EXPAND_NAME(omp_get_place_proc_ids)(int place, int *ids);
int KMP_EXPAND_NAME(omp_get_partition_num_places)(void);
void KMP_EXPAND_NAME(omp_get_partition_place_nums)(int *places);

// ---- settings ----

void __kmp_gomp_omp_set_num_threads_8_(const kmp_int64 *num_threads) {
  KMP_EXPAND_NAME(omp_set_num_threads)(narrow(num_threads));
}
KMP_GOMP_EXPORT(omp_set_num_threads_8_, "OMP_1.0");

void __kmp_gomp_omp_set_dynamic_8_(const kmp_int64 *flag) {
  KMP_EXPAND_NAME(omp_set_dynamic)(*flag != 0);
}
KMP_GOMP_EXPORT(omp_set_dynamic_8_, "OMP_1.0");

void __kmp_gomp_omp_set_nested_8_(const kmp_int64 *flag) {
  KMP_EXPAND_NAME(omp_set_nested)(*flag != 0);
}
KMP_GOMP_EXPORT(omp_set_nested_8_, "OMP_1.0");

void __kmp_gomp_omp_set_schedule_8_(const kmp_int32 *kind, const kmp_int64 *chunk) {
  KMP_EXPAND_NAME(omp_set_schedule)((kmp_sched_t)*kind, narrow(chunk));
}
KMP_GOMP_EXPORT(omp_set_schedule_8_, "OMP_3.0");

void __kmp_gomp_omp_get_schedule_8_(kmp_int32 *kind, kmp_int64 *chunk) {
  kmp_sched_t narrow_kind;
  int narrow_chunk;
  KMP_EXPAND_NAME(omp_get_schedule)(&narrow_kind, &narrow_chunk);
  *kind = (kmp_int32)narrow_kind;
  *chunk = narrow_chunk;
}
KMP_GOMP_EXPORT(omp_get_schedule_8_, "OMP_3.0");

void __kmp_gomp_omp_set_max_active_levels_8_(const kmp_int64 *levels) {
  KMP_EXPAND_NAME(omp_set_max_active_levels)(narrow(levels));
}
KMP_GOMP_EXPORT(omp_set_max_active_levels_8_, "OMP_3.0");

void __kmp_gomp_omp_set_default_device_8_(const kmp_int64 *device) {
  KMP_EXPAND_NAME(omp_set_default_device)(narrow(device));
}
KMP_GOMP_EXPORT(omp_set_default_device_8_, "OMP_4.0");

void __kmp_gomp_omp_set_num_teams_8_(const kmp_int64 *num_teams) {
  __kmp_entry_gtid();
  __kmp_set_num_teams(narrow(num_teams));
}
KMP_GOMP_EXPORT(omp_set_num_teams_8_, "OMP_5.1");

void __kmp_gomp_omp_set_num_teams_(const kmp_int32 *num_teams) {
  __kmp_entry_gtid();
  __kmp_set_num_teams(*num_teams);
}
KMP_GOMP_EXPORT(omp_set_num_teams_, "OMP_5.1");

void __kmp_gomp_omp_set_teams_thread_limit_8_(const kmp_int64 *limit) {
  __kmp_entry_gtid();
  __kmp_set_teams_thread_limit(narrow(limit));
}
KMP_GOMP_EXPORT(omp_set_teams_thread_limit_8_, "OMP_5.1");

void __kmp_gomp_omp_set_teams_thread_limit_(const kmp_int32 *limit) {
  __kmp_entry_gtid();
  __kmp_set_teams_thread_limit(*limit);
}
KMP_GOMP_EXPORT(omp_set_teams_thread_limit_, "OMP_5.1");

void __kmp_gomp_omp_display_env_(const kmp_int32 *verbose) { __kmp_omp_display_env(*verbose != 0); }
KMP_GOMP_EXPORT(omp_display_env_, "OMP_5.1");

void __kmp_gomp_omp_display_env_8_(const kmp_int64 *verbose) {
  __kmp_omp_display_env(*verbose != 0);
}
KMP_GOMP_EXPORT(omp_display_env_8_, "OMP_5.1");

// ---- tools ----

int __kmp_gomp_omp_control_tool_(const kmp_int32 *command, const kmp_int32 *modifier) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  return __kmp_gomp_omp_control_tool(*command, *modifier, NULL);
}
KMP_GOMP_EXPORT(omp_control_tool_, "OMP_6.0");

int __kmp_gomp_omp_control_tool_8_(const kmp_int32 *command, const kmp_int64 *modifier) {
  OMPT_STORE_RETURN_ADDRESS(__kmp_entry_gtid());
  return __kmp_gomp_omp_control_tool(*command, narrow(modifier), NULL);
}
KMP_GOMP_EXPORT(omp_control_tool_8_, "OMP_6.0");

// ---- where a thread is ----

int __kmp_gomp_omp_get_ancestor_thread_num_8_(const kmp_int64 *level) {
  return KMP_EXPAND_NAME(omp_get_ancestor_thread_num)(narrow(level));
}
KMP_GOMP_EXPORT(omp_get_ancestor_thread_num_8_, "OMP_3.0");

int __kmp_gomp_omp_get_team_size_8_(const kmp_int64 *level) {
  return KMP_EXPAND_NAME(omp_get_team_size)(narrow(level));
}
KMP_GOMP_EXPORT(omp_get_team_size_8_, "OMP_3.0");

int __kmp_gomp_omp_get_place_num_procs_8_(const kmp_int64 *place) {
  return KMP_EXPAND_NAME(omp_get_place_num_procs)(narrow(place));
}
KMP_GOMP_EXPORT(omp_get_place_num_procs_8_, "OMP_4.5");

// In place, since the caller's array has room for all of them: the narrow numbers fill its first
// half, and the last one is the first to get its full width.
static void widen(kmp_int64 *numbers, int count) {
  const int *narrow_numbers = (const int *)numbers;
  for (int i = count - 1; i >= 0; --i) {
    int number;
    memcpy(&number, narrow_numbers + i, sizeof(number));
    numbers[i] = number;
  }
}

void __kmp_gomp_omp_get_place_proc_ids_8_(const kmp_int64 *place, kmp_int64 *ids) {
  KMP_EXPAND_NAME(omp_get_place_proc_ids)(narrow(place), (int *)ids);
  widen(ids, KMP_EXPAND_NAME(omp_get_place_num_procs)(narrow(place)));
}
KMP_GOMP_EXPORT(omp_get_place_proc_ids_8_, "OMP_4.5");

void __kmp_gomp_omp_get_partition_place_nums_8_(kmp_int64 *places) {
  KMP_EXPAND_NAME(omp_get_partition_place_nums)((int *)places);
  widen(places, KMP_EXPAND_NAME(omp_get_partition_num_places)());
}
KMP_GOMP_EXPORT(omp_get_partition_place_nums_8_, "OMP_4.5");

// ---- allocators ----

// The traits are those of C: their keys and values are of kinds of their own.
omp_allocator_handle_t __kmp_gomp_omp_init_allocator_(const omp_memspace_handle_t *space,
                                                      const kmp_int32 *num_traits,
                                                      omp_alloctrait_t *traits) {
  return __kmpc_init_allocator(__kmp_entry_gtid(), *space, *num_traits, traits);
}
KMP_GOMP_EXPORT(omp_init_allocator_, "OMP_5.0.1");

omp_allocator_handle_t __kmp_gomp_omp_init_allocator_8_(const omp_memspace_handle_t *space,
                                                        const kmp_int64 *num_traits,
                                                        omp_alloctrait_t *traits) {
  return __kmpc_init_allocator(__kmp_entry_gtid(), *space, narrow(num_traits), traits);
}
KMP_GOMP_EXPORT(omp_init_allocator_8_, "OMP_5.0.1");

void __kmp_gomp_omp_destroy_allocator_(const omp_allocator_handle_t *allocator) {
  __kmpc_destroy_allocator(__kmp_entry_gtid(), *allocator);
}
KMP_GOMP_EXPORT(omp_destroy_allocator_, "OMP_5.0.1");

void __kmp_gomp_omp_set_default_allocator_(const omp_allocator_handle_t *allocator) {
  __kmpc_set_default_allocator(__kmp_entry_gtid(), *allocator);
}
KMP_GOMP_EXPORT(omp_set_default_allocator_, "OMP_5.0.1");

} // extern "C"

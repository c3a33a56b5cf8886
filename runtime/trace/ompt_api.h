// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef HIERBAR_OMPT_API_H
#define HIERBAR_OMPT_API_H

// The part of the OpenMP tools interface (OMPT, OpenMP 5.2 chapter 19) that this tool uses, with
// the standard's names and numbers. It is written here so that the tool can be built without an
// OpenMP runtime, and is the same for all runtimes.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef union ompt_data_t {
  uint64_t value;
  void *ptr;
} ompt_data_t;

typedef struct ompt_frame_t ompt_frame_t;
typedef void (*ompt_callback_t)(void);
typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);
typedef int (*ompt_initialize_t)(ompt_function_lookup_t lookup, int initial_device_num,
                                 ompt_data_t *tool_data);
typedef void (*ompt_finalize_t)(ompt_data_t *tool_data);
typedef struct ompt_start_tool_result_t {
  ompt_initialize_t initialize;
  ompt_finalize_t finalize;
  ompt_data_t tool_data;
} ompt_start_tool_result_t;

enum {
  ompt_callback_parallel_begin = 3,
  ompt_callback_parallel_end = 4,
  ompt_callback_task_schedule = 6,
  ompt_callback_implicit_task = 7,
  ompt_callback_sync_region_wait = 16,
  ompt_callback_work = 20,
  ompt_callback_masked = 21,
  ompt_callback_sync_region = 23,
  ompt_callback_reduction = 31,
  ompt_callback_dispatch = 32
};

enum { ompt_set_error = 0, ompt_set_always = 5 };

enum { ompt_scope_begin = 1, ompt_scope_end = 2 };

// 1 and 2 are deprecated, but older runtimes still use them.
enum {
  ompt_sync_region_barrier = 1,
  ompt_sync_region_barrier_implicit = 2,
  ompt_sync_region_barrier_explicit = 3,
  ompt_sync_region_barrier_implementation = 4,
  ompt_sync_region_barrier_implicit_workshare = 8,
  ompt_sync_region_barrier_implicit_parallel = 9,
  ompt_sync_region_barrier_teams = 10
};

enum { ompt_task_initial = 0x00000001 };
enum { ompt_parallel_league = 0x40000000 };

typedef int (*ompt_set_callback_t)(int event, ompt_callback_t callback);
typedef int (*ompt_get_callback_t)(int event, ompt_callback_t *callback);
typedef int (*ompt_get_parallel_info_t)(int ancestor_level, ompt_data_t **parallel_data,
                                        int *team_size);
typedef void (*ompt_callback_parallel_begin_t)(ompt_data_t *encountering_task_data,
                                               const ompt_frame_t *encountering_task_frame,
                                               ompt_data_t *parallel_data,
                                               unsigned int requested_parallelism, int flags,
                                               const void *codeptr_ra);
typedef void (*ompt_callback_parallel_end_t)(ompt_data_t *parallel_data,
                                             ompt_data_t *encountering_task_data, int flags,
                                             const void *codeptr_ra);
typedef void (*ompt_callback_task_schedule_t)(ompt_data_t *prior_task_data, int prior_task_status,
                                              ompt_data_t *next_task_data);
typedef void (*ompt_callback_implicit_task_t)(int endpoint, ompt_data_t *parallel_data,
                                              ompt_data_t *task_data,
                                              unsigned int actual_parallelism, unsigned int index,
                                              int flags);
typedef void (*ompt_callback_sync_region_t)(int kind, int endpoint, ompt_data_t *parallel_data,
                                            ompt_data_t *task_data, const void *codeptr_ra);
typedef void (*ompt_callback_work_t)(int work_type, int endpoint, ompt_data_t *parallel_data,
                                     ompt_data_t *task_data, uint64_t count,
                                     const void *codeptr_ra);
typedef void (*ompt_callback_masked_t)(int endpoint, ompt_data_t *parallel_data,
                                       ompt_data_t *task_data, const void *codeptr_ra);
typedef void (*ompt_callback_dispatch_t)(ompt_data_t *parallel_data, ompt_data_t *task_data,
                                         int kind, ompt_data_t instance);
typedef ompt_start_tool_result_t *(*ompt_start_tool_t)(unsigned int omp_version,
                                                       const char *runtime_version);

#ifdef __cplusplus
}
#endif

#endif  // HIERBAR_OMPT_API_H

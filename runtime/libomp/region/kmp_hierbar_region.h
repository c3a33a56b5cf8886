// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_REGION_H
#define KMP_HIERBAR_REGION_H

// A lean way through a parallel region that is like the one before (docs/design/regions.md#d0110).
//
// libomp's way through a region takes a lock, makes the team anew and reads what the primary wrote
// one line after the other. Where the same team runs again under the same settings all of that
// comes out as it was. The lean way leaves it out. What it must do itself:
//
//   1. The primary compares its record of the last ordinary region with the present state
//      (region/kmp_hierbar_unchanged.h). Any difference: libomp's own way, which makes a new record.
//   2. It releases the workers with the function and its arguments in the line of b_go. Leaders
//      pass that line on along the plan. Nobody resets b_go until the next ordinary release
//      (docs/design/regions.md#d0115).
//   3. Everybody renews its own implicit task and takes the other task team, as after any fork.
//   4. The join is the gather of every other region.
//
// Of the outermost level only, where the primary is the initial thread or one that the program
// made.

#include "kmp_hierbar.h"
#include "kmp_hierbar_team.h"
#include "region/kmp_hierbar_fp_control.h"

// Why a region went libomp's way. The texts are in kmp_hierbar_region_record.cpp.
enum kmp_hierbar_reason_t {
  kmp_hierbar_unchanged, // it did not
  kmp_hierbar_is_first,
  kmp_hierbar_is_nested,
  kmp_hierbar_in_teams,
  kmp_hierbar_in_a_task,
  kmp_hierbar_many_arguments,
  kmp_hierbar_other_size,
  kmp_hierbar_other_icvs,
  kmp_hierbar_other_places,
  kmp_hierbar_other_allocator,
  kmp_hierbar_other_fp_control,
  kmp_hierbar_other_settings,
  kmp_hierbar_cancelled,
  kmp_hierbar_paused,
  kmp_hierbar_dynamic_size,
  kmp_hierbar_strict_size,
  kmp_hierbar_observed,
  kmp_hierbar_debugging_settings,
  kmp_hierbar_no_hot_team,
  kmp_hierbar_padded_stack,
  kmp_hierbar_num_reasons
};

// What a thread keeps for lean regions. It belongs to the thread, as kmp_info_t does: a forked
// child has new kmp_info_t, and so no records. Written and read by this thread only.
struct kmp_hierbar_region {
  // Of a primary: its last ordinary region.
  kmp_hierbar_reason_t impossible; // why that one cannot be repeated; kmp_hierbar_unchanged: it can
  kmp_team_t *team;
  kmp_team_t *parent;
  kmp_taskdata_t *outer_task;
  int nproc;
  kmp_proc_bind_t proc_bind;
  kmp_uint32 changes;  // th_hierbar_changes of the primary then
  kmp_uint32 settings; // __kmp_hierbar_settings_count then
  kmp_internal_control_t outer_icvs;
  omp_allocator_handle_t allocator;
#if KMP_AFFINITY_SUPPORTED
  int first_place; // the primary's partition in the region
  int last_place;
#endif
  kmp_uint8 task_state; // of the team when it last joined

  // Of everybody in the team.
  kmp_internal_control_t icvs;         // of its implicit tasks
  kmp_task_team_t *task_teams[2];      // of a worker, which may not ask the team between two regions
  microtask_t adder;                   // of a worker: the last function that reduced by atomic operations
  kmp_hierbar_fp_control_t fp_control; // of a worker, forgotten in a region without a record
};
typedef struct kmp_hierbar_region kmp_hierbar_region_t;

// How often something has changed that concerns all threads: the settings have been read, the
// library's mode or the state of a pause is another one.
extern std::atomic<kmp_uint32> __kmp_hierbar_settings_count;

// The primary, before it releases an ordinary fork: makes the record, if the team is the outermost.
void __kmp_hierbar_record_region(kmp_team_t *team);
// A worker of that team, after the release.
void __kmp_hierbar_record_region_of_worker(kmp_info_t *this_thr, kmp_team_t *team);

// Why the last region that went libomp's way did so; NULL if none did. Found under HIERBAR_VERBOSE.
const char *__kmp_hierbar_last_reason();

// The worker has seen b_go. Runs a lean region to its arrival at the join, and returns true; false:
// the release was an ordinary one, or the library shuts down.
bool __kmp_hierbar_run_released_region(kmp_info_t *this_thr, int gtid);

// The primary, when all have joined.
static inline void __kmp_hierbar_end_of_region(kmp_info_t *this_thr, const kmp_team_t *team) {
  kmp_hierbar_region_t *region = this_thr->th.th_hierbar_region;
  if (region == NULL || region->team != team)
    return;
  region->task_state = this_thr->th.th_task_state;
  // The next region begins with a team that has to forget it.
  if (team->t.t_cancel_request.load(std::memory_order_relaxed) != cancel_noreq)
    ++this_thr->th.th_hierbar_changes;
}

// Whether the next region is asked for with a list of sizes, or with one that must be met. Nothing
// of this is in the record.
static inline bool __kmp_hierbar_asks_for_more(const kmp_info_t *primary) {
  return primary->th.th_nt_strict || primary->th.th_set_nested_nth != NULL;
}

// A worker between two regions, off the path of anybody who waits: undoes what the program has done
// to the floating-point control words.
static inline void __kmp_hierbar_restore_fp_control(kmp_info_t *this_thr) {
  if (this_thr->th.th_hierbar_region != NULL)
    this_thr->th.th_hierbar_region->fp_control.restore();
}

#endif // KMP_HIERBAR_REGION_H

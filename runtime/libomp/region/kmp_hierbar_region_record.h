// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_REGION_RECORD_H
#define KMP_HIERBAR_REGION_RECORD_H

// What a lean region is compared with, and why a region was not lean.

#include "kmp.h"

// HIERBAR_REGION, under KMP_BARRIER=hier. Written while libomp is initialised.
extern bool __kmp_hierbar_lean_regions;

// Arguments that fit into the line of b_go.
#define KMP_HIERBAR_MAX_ARGS 5

// The floating-point control words (rounding, precision, what traps) that a region hands from its
// primary to its workers, as propagateFPControl() and updateHWFPControl() of libomp do.

#if KMP_ARCH_X86 || KMP_ARCH_X86_64

struct kmp_hierbar_fp_control_t {
  bool is_inherited; // KMP_INHERIT_FP_CONTROL
  kmp_int16 x87;
  kmp_uint32 mxcsr;

  void read_registers() {
    __kmp_store_x87_fpu_control_word(&x87);
    __kmp_store_mxcsr(&mxcsr);
    mxcsr &= KMP_X86_MXCSR_MASK;
  }
  // What the primary's fork has put into the team.
  void keep(const kmp_team_t *team) {
    is_inherited = __kmp_inherit_fp_control && team->t.t_fp_control_saved;
    x87 = team->t.t_x87_fpu_control_word;
    mxcsr = team->t.t_mxcsr;
  }
  // From here on restore() does nothing.
  void forget() { is_inherited = false; }
  // Not zero if the registers hold something else.
  kmp_uint64 differ() const {
    if (!is_inherited)
      return 0;
    kmp_hierbar_fp_control_t now;
    now.read_registers();
    return (kmp_uint16)(now.x87 ^ x87) | (now.mxcsr ^ mxcsr);
  }
  void restore() {
    if (differ() == 0)
      return;
    __kmp_clear_x87_fpu_status_word();
    __kmp_load_x87_fpu_control_word(&x87);
    __kmp_load_mxcsr(&mxcsr);
  }
};

#else

struct kmp_hierbar_fp_control_t { // libomp leaves the registers of other processors alone
  void keep(const kmp_team_t *) {}
  void forget() {}
  kmp_uint64 differ() const { return 0; }
  void restore() {}
};

#endif

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
  kmp_internal_control_t icvs;    // of its implicit tasks
  kmp_task_team_t *task_teams[2]; // of a worker, which may not ask the team between two regions
  microtask_t adder; // of a worker: the last function that reduced by atomic operations
  kmp_hierbar_fp_control_t fp_control; // of a worker, forgotten in a region without a record
};
typedef struct kmp_hierbar_region kmp_hierbar_region_t;

// How often something has changed that concerns all threads: the settings have been read, the
// library's mode or the state of a pause is another one.
extern std::atomic<kmp_uint32> __kmp_hierbar_settings_count;

// Something has changed that concerns all threads' regions. What concerns the calling thread's only
// counts in its th_hierbar_changes; which functions do is in patches/hooks/6-region.patch.
void __kmp_hierbar_settings_changed();

// The primary, before it releases an ordinary fork: makes the record, if the team is the outermost.
void __kmp_hierbar_record_region(kmp_team_t *team);
// A worker of that team, after the release.
void __kmp_hierbar_record_region_of_worker(kmp_info_t *this_thr, kmp_team_t *team);

// When a thread is freed.
void __kmp_hierbar_free_region(kmp_info_t *thread);

// The size of the last region that the thread ran in the lean way.
unsigned __kmp_hierbar_region_size(int gtid);

// For the report: why the region that begins goes libomp's way.
void __kmp_hierbar_find_reason(const kmp_info_t *thread, kmp_int32 argc);
// Why the last region that went libomp's way did so; NULL if none did. Found under HIERBAR_VERBOSE.
const char *__kmp_hierbar_last_reason();

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

#endif // KMP_HIERBAR_REGION_RECORD_H

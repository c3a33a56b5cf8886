// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_GOMP_WORKSHARE_H
#define KMP_GOMP_WORKSHARE_H

// Worksharing constructs: their schedules, the memory that the threads share in one, and task
// reductions. Called by kmp_gsupport.cpp, and by kmp_runtime.cpp when a team is used again.

#include "kmp.h"

// kmp_sch_static and kmp_ord_static are for blocks, whatever the chunk size.
static inline enum sched_type __kmp_gomp_schedule(enum sched_type schedule, kmp_int64 chunk_size) {
  if (chunk_size > 0 && schedule == kmp_sch_static)
    return kmp_sch_static_chunked;
  if (chunk_size > 0 && schedule == kmp_ord_static)
    return kmp_ord_static_chunked;
  return schedule;
}

// A loop over unsigned long long, for libomp's dispatch: the last value inclusively, and a signed
// step.
struct kmp_gomp_range_t {
  unsigned long long last;
  long long step;
  bool is_one_chunk; // it goes from the loop's begin to its end
};

// GCC passes a step downwards as its two's complement. A step of 2^63 or more is not representable,
// and makes one iteration: a second one would make the variable wrap around.
static inline kmp_gomp_range_t __kmp_gomp_range(bool up, unsigned long long begin,
                                                unsigned long long end, unsigned long long step) {
  if (up ? (long long)step > 0 : (long long)step < 0)
    return {up ? end - 1 : end + 1, (long long)step, false};
  return {begin, up ? 1 : -1, true};
}

// *mem is a size, and becomes the address of that much memory of the team's for the construct, at
// first 0. If not all threads of the team ask for it before the region ends, abandon(*mem) is
// called then.
void __kmp_gomp_share_memory(int gtid, void **mem, void (*abandon)(void *) = NULL);

// Frees the memory of constructs that not all threads of the team have come to. No thread is in
// any.
void __kmp_gomp_forget_memory(kmp_team_t *team);

// ---- task reductions; `data` is a table of the program's ----

enum {
  KMP_GOMP_TABLE_IS_WORKSHARE = 5
}; // a word of the first table: the taskgroup is that of a worksharing construct

void __kmp_gomp_register_reductions(uintptr_t *data, int num_threads);
void __kmp_gomp_unregister_reductions(uintptr_t *data);
void __kmp_gomp_remap_reductions(size_t count, size_t num_originals, void **ptrs);

// Called by all threads of a team, at the begin and end of a worksharing construct or a scope; each
// starts and ends a taskgroup.
void __kmp_gomp_start_workshare_reductions(int gtid, uintptr_t *data);
void __kmp_gomp_end_workshare_reductions(int gtid);

#endif // KMP_GOMP_WORKSHARE_H

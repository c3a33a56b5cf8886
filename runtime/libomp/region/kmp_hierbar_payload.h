// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PAYLOAD_H
#define KMP_HIERBAR_PAYLOAD_H

// What a lean release brings along, from the primary to the workers along the plan: step 2 of
// region/kmp_hierbar_region.h. The workers wait in await_go (kmp_hierbar_phases.cpp).

#include "libomp/barrier/kmp_hierbar_team.h"
#include "libomp/region/kmp_hierbar_region_record.h"

#include "barrier/pass_on.hpp"

// Laid over th_fixed_icvs, which an ordinary release fills and the lean one does not need.
struct __attribute__((may_alias)) kmp_hierbar_payload_t {
  void *args[KMP_HIERBAR_MAX_ARGS];
  kmp_int32 argc;
  kmp_int32 unused;
  microtask_t microtask; // where kmp_internal_control_t::next is: NULL in an ordinary release
};
static_assert(sizeof(kmp_hierbar_payload_t) == sizeof(kmp_internal_control_t),
              "the payload takes the place of the ICVs");
static_assert(offsetof(kmp_hierbar_payload_t, microtask) == offsetof(kmp_internal_control_t, next),
              "NULL after a release of ICVs");
static_assert(offsetof(kmp_bstate_t, b_go) / 64 == 0, "the payload and b_go are one line");

// Member by member and not by memcpy(), which GenMC does not know.
static inline void __kmp_hierbar_copy(kmp_hierbar_payload_t *to,
                                      const kmp_hierbar_payload_t *from) {
  for (int i = 0; i < KMP_HIERBAR_MAX_ARGS; ++i)
    to->args[i] = from->args[i];
  to->argc = from->argc;
  to->microtask = from->microtask;
}

static inline void __kmp_hierbar_release_one(kmp_info_t *thread,
                                             const kmp_hierbar_payload_t &payload) {
  kmp_bstate_t *thr_bar = &thread->th.th_bar[bs_forkjoin_barrier].bb;
  __kmp_hierbar_copy((kmp_hierbar_payload_t *)&thr_bar->th_fixed_icvs, &payload);
  // (kmp_hierbar_payload.P1) full barrier; pairs with (kmp_hierbar_phases.G2) in await_go, after
  // which the worker reads the payload.
  __kmp_hierbar_hand_over(&thr_bar->b_go, thread);
}

// A worker asks itself for the size: the primary may be writing the line of t_nproc.
static inline void __kmp_hierbar_release_region(const kmp_team_t *team, int nproc, int tid,
                                                const kmp_hierbar_payload_t &payload) {
  kmp_info_t **threads = team->t.t_threads;
  if (nproc == 2) { // nothing to look up in the plan
    if (KMP_MASTER_TID(tid))
      __kmp_hierbar_release_one(threads[1], payload);
    return;
  }
  const kmp_hierbar_team_t *hier = team->t.t_hierbar;
  hierbar::pass_on(hier->engine, (kmp_uint32)tid, {hier->release_width, hier->release_width},
                   [&](kmp_uint32 other) { __kmp_hierbar_release_one(threads[other], payload); });
}

// The worker, after (kmp_hierbar_phases.G2). False: the release was an ordinary one, or the library
// shuts down. Who wakes a thread to end it writes no payload: the line has that of the last region.
static inline bool __kmp_hierbar_take(kmp_hierbar_payload_t *payload, const kmp_bstate_t *thr_bar) {
  __kmp_hierbar_copy(payload, (const kmp_hierbar_payload_t *)&thr_bar->th_fixed_icvs);
  return payload->microtask != NULL && !TCR_4(__kmp_global.g.g_done);
}

#endif // KMP_HIERBAR_PAYLOAD_H

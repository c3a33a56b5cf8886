// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_H
#define KMP_HIERBAR_H

// Everything that the patch to libomp calls. The patch holds the calls and nothing else; what they do is in this folder.
//
//   kmp_settings.cpp   __kmp_stg_parse_hierbar, __kmp_stg_print_hierbar     the table entry of KMP_BARRIER
//                      __kmp_hierbar_settings_done                          after all variables have been read
//   kmp_runtime.cpp    __kmp_hierbar_prepare       the primary, before the fork release; all workers are parked on b_go
//                      __kmp_hierbar_free_team     when a team structure is freed
//                      __kmp_hierbar_finish        the library is cleaned up: report, forget
//   kmp_barrier.cpp    __kmp_hierbar_barrier       a plain barrier from beginning to end, if nothing forbids it
//                      __kmp_hierbar_gather        one phase, like the other patterns
//                      __kmp_hierbar_release
//                      __kmp_hierbar_observed_barrier  the same when a tool looks on, which may have asked for stamps
//                      __kmp_hierbar_count_stock   before libomp's own cancellable barrier
//   kmp_csupport.cpp   __kmp_hierbar_serve         an explicit barrier, before anything else is done for it
//   kmp_affinity.cpp   __kmp_hierbar_place         the cpus that libomp takes for the machine
//   z_Linux_util.cpp   __kmp_hierbar_yield         a waiting thread gives its cpu to others
//   ompt-general.cpp   __kmp_hierbar_tool_lookup   a name that OMPT does not know

#include "kmp.h"
#include "kmp_hierbar_compat.h"
#include "kmp_itt.h"
#if OMPT_SUPPORT
#include "ompt-internal.h"
#endif

struct kmp_hierbar_team;

// True once KMP_BARRIER=hier has been accepted and libhierbar.so is there. Written while libomp is initialised.
extern bool __kmp_hierbar_enabled;

void __kmp_stg_parse_hierbar(char const *name, char const *value, void *data);
void __kmp_stg_print_hierbar(kmp_str_buf_t *buffer, char const *name, void *data);
void __kmp_hierbar_settings_done();

#if KMP_AFFINITY_SUPPORTED
// Replaces __kmp_affin_fullMask by this rank's share of the node, if there is one and nothing speaks against it.
void __kmp_hierbar_place(const kmp_affinity_t &affinity);
#endif

void __kmp_hierbar_prepare(kmp_team_t *team);
void __kmp_hierbar_free_team(kmp_team_t *team);
void __kmp_hierbar_finish();

// A barrier from beginning to end, if it is a plain, unsplit one without a reduction and its team does not need the primary for
// more than tasks. Returns the value of __kmp_barrier (0 primary, 1 worker), or KMP_HIERBAR_NOT_SERVED: take the way through
// gather and release. The answer is the same for the whole team.
#define KMP_HIERBAR_NOT_SERVED (-1)
int __kmp_hierbar_barrier(enum barrier_type bt, int gtid, int is_split, void (*reduce)(void *, void *));

// The same when a tool looks on, which may have asked for stamps (trace/stamps.h).
int __kmp_hierbar_observed_barrier(enum barrier_type bt, int gtid, int is_split, void (*reduce)(void *, void *));

// The same when a tool wants to be told of it in its own way (hierbar_trace_interface.observe) and needs nothing else that OMPT
// keeps up around a barrier. False: not served, or no such tool.
bool __kmp_hierbar_told_barrier(ident_t *loc, int gtid, void *address);

// What a tool's lookup function returns for a name that is not OMPT's: a function, or NULL.
void (*__kmp_hierbar_tool_lookup(const char *name))(void);

// True when a barrier may be served before __kmp_barrier_template is entered: no tool and no offload runtime looks on.
static inline bool __kmp_hierbar_is_unobserved() {
#if OMPT_SUPPORT
  if (ompt_enabled.enabled)
    return false;
#endif
  return __kmp_hierbar_enabled && !__kmp_hierbar_barrier_calls_offload();
}

// An explicit barrier, or one that the compiler has put in. `address` is where it returns to.
static inline bool __kmp_hierbar_serve(ident_t *loc, int gtid, void *address) {
#if OMPT_SUPPORT && OMPT_OPTIONAL
  if (ompt_enabled.enabled)
    return !__kmp_hierbar_barrier_calls_offload() && __kmp_hierbar_told_barrier(loc, gtid, address);
#endif
  return __kmp_hierbar_is_unobserved() && __kmp_hierbar_barrier(bs_plain_barrier, gtid, FALSE, NULL) != KMP_HIERBAR_NOT_SERVED;
}

// sched_yield(), with an eye on others who want the cpu (kmp_hierbar_contention.h).
void __kmp_hierbar_yield();

// Counts an episode of libomp's own cancellable barrier.
void __kmp_hierbar_count_stock(kmp_team_t *team, int tid);

void __kmp_hierbar_gather(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                          void (*reduce)(void *, void *) USE_ITT_BUILD_ARG(void *itt_sync_obj));
void __kmp_hierbar_release(enum barrier_type bt, kmp_info_t *this_thr, int gtid, int tid,
                           int propagate_icvs USE_ITT_BUILD_ARG(void *itt_sync_obj));

#endif // KMP_HIERBAR_H

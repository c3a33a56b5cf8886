// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_EXCHANGE_H
#define KMP_HIERBAR_EXCHANGE_H

// Plain barriers. Called by kmp_csupport.cpp, before anything else is done for an explicit barrier,
// and by kmp_barrier.cpp for the barriers that it handles.

#include "kmp.h"
#include "libomp/kmp_hierbar_compat.h"
#include "libomp/kmp_hierbar_settings.h"
#if OMPT_SUPPORT
#include "ompt-internal.h"
#endif

// A barrier from beginning to end. Serves a plain, unsplit one without a reduction whose team does
// not need the primary for more than tasks. Returns the value of __kmp_barrier (0 primary, 1
// worker), or KMP_HIERBAR_NOT_SERVED: the caller runs gather and release. The answer is the same
// for the whole team. A team of one thread is served too, unless its tasks are still under way.
// There are three variants, by observer:
#define KMP_HIERBAR_NOT_SERVED (-1)

// 1. No observer.
int __kmp_hierbar_unobserved_barrier(enum barrier_type bt, int gtid, int is_split,
                                     void (*reduce)(void *, void *));

// 2. A tool that may have asked for stamps (trace/stamps.h). OMPT's callbacks are the caller's.
int __kmp_hierbar_stamped_barrier(enum barrier_type bt, int gtid, int is_split,
                                  void (*reduce)(void *, void *));

// 3. A tool that wants the barrier reported by hierbar_trace_interface.observe, and needs nothing
// else that OMPT maintains around a barrier. Returns false when the barrier is not served, or when
// there is no such tool.
bool __kmp_hierbar_reported_barrier(ident_t *loc, int gtid, void *address);

// True when a barrier may be served before __kmp_barrier_template is entered: there is no tool and
// no offload runtime.
static inline bool __kmp_hierbar_is_unobserved() {
#if OMPT_SUPPORT
  if (ompt_enabled.enabled)
    return false;
#endif
  return __kmp_hierbar_enabled && !__kmp_hierbar_barrier_calls_offload();
}

// An explicit barrier, or one that the compiler has inserted. If 1. does not serve it, `otherwise`
// is called. `address` is the entry point's return address.
typedef void kmp_hierbar_other_barrier_t(ident_t *loc, int gtid, void *address);
void __kmp_hierbar_enter_barrier(ident_t *loc, int gtid, void *address,
                                 kmp_hierbar_other_barrier_t *otherwise);

// Whether 1. serves an explicit barrier of this thread without a wait, because its team has no
// other thread. `gtid` may be negative.
bool __kmp_hierbar_is_alone(int gtid);

// An explicit barrier where there is a tool, served by 3. False: not served.
static inline bool __kmp_hierbar_observed_barrier(ident_t *loc, int gtid, void *address) {
#if OMPT_SUPPORT && OMPT_OPTIONAL
  return ompt_enabled.enabled && !__kmp_hierbar_barrier_calls_offload() &&
         __kmp_hierbar_reported_barrier(loc, gtid, address);
#else
  return false;
#endif
}

#endif // KMP_HIERBAR_EXCHANGE_H

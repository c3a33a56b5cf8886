// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PATIENCE_H
#define KMP_HIERBAR_PATIENCE_H

// How long a thread yields in __kmp_wait_template before it sleeps. That sleeps after
// th_team_bt_intervals, which libomp sets anew in each barrier.
//
// Beside others who hold the cpus it sleeps at once. Where the process's own threads outnumber the
// cpus, a yield lets a partner run that computes, and returns when that one has arrived. Many
// yields in a wait show that nobody else needs the cpu: the partner computes on another one. Then
// each of them is a context switch for nothing. A thread learns from its own waits which of the two
// it is. After some long waits in a row with many yields it sleeps at once. One wait in 64 still
// yields, and shows whether that is as before (docs/design/waiting.md#d0176).

#include "kmp.h"
#include "waits/kmp_hierbar_contention.h"
#include "waits/kmp_hierbar_waits.h"

// Of one thread.
struct kmp_hierbar_patience_t {
  int num_vain;          // long waits in a row with many yields, up to many_vain
  kmp_uint32 num_waits;  // while it does not yield
  kmp_uint32 num_yields; // all that the thread has made
};
extern __thread kmp_hierbar_patience_t __kmp_hierbar_patience [[gnu::tls_model("initial-exec")]];

// One wait in __kmp_wait_template. begin() comes before it, and end() behind the fence that follows
// it, so that no load comes between wait and fence (omp.acquire). What they do is out of line for
// the same reason. Where each thread has a cpu nothing is learned.
class kmp_hierbar_limited_wait_t {
  kmp_hierbar_patience_t *learner = NULL; // whom this wait tells something
  kmp_uint64 start = 0;
  kmp_uint32 yields_before = 0;

  void learn();

public:
  [[gnu::noinline]] void begin(kmp_info_t *thread);
  void end() {
    if (learner != NULL)
      learn();
  }
};

// The same for a worker that waits for a region. On AArch64 omp.acquire then finds loads between
// the wait and its fence, so such a worker only sleeps early there, and learns nothing.
#if KMP_ARCH_X86 || KMP_ARCH_X86_64
typedef kmp_hierbar_limited_wait_t kmp_hierbar_fork_wait_t;
#else
struct kmp_hierbar_fork_wait_t {
  void begin(kmp_info_t *thread) {
    if (__kmp_hierbar_sleeps_early() && thread->th.th_team_bt_intervals == __kmp_hierbar_ticks(__kmp_dflt_blocktime))
      thread->th.th_team_bt_intervals = 0;
  }
  void end() {}
};
#endif

#endif // KMP_HIERBAR_PATIENCE_H

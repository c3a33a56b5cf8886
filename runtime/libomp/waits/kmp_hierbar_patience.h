// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PATIENCE_H
#define KMP_HIERBAR_PATIENCE_H

// How long a thread yields in __kmp_wait_template before it sleeps. That sleeps after
// th_team_bt_intervals, which libomp sets anew in each barrier.
//
// Beside others who hold the cpus it sleeps at once. Where the process's own threads outnumber the
// cpus, a yield lets a partner run that computes, and returns when that one has arrived. Many yields
// in a wait show that nobody else needs the cpu, and that the partner computes on another one. Then
// each of them is a context switch for nothing. Which of the two it is a thread learns from its own
// waits: after some long ones with many yields in a row it sleeps at once, but for one wait in 64,
// which shows whether that is still so (docs/decisions/0176).

#include "kmp.h"

#include <atomic>

#include "waits/kmp_hierbar_contention.h"
#include "waits/kmp_hierbar_waits.h"

// Of one thread.
struct kmp_hierbar_patience_t {
  int num_vain;          // long waits in a row with many yields, up to many_vain
  kmp_uint32 num_waits;  // while it does not yield
  kmp_uint32 num_yields; // all that the thread has made
};
extern __thread kmp_hierbar_patience_t __kmp_hierbar_patience [[gnu::tls_model("initial-exec")]];

// Exists while its thread waits in __kmp_wait_template.
class kmp_hierbar_limited_wait_t {
  static constexpr int many_vain = 4;
  static constexpr kmp_uint32 many_yields = 16;
  static constexpr kmp_uint32 wait_to_learn = 64; // one in so many
  static constexpr kmp_uint64 long_us = 150;      // a sleep and its end cost a third of that
  static constexpr kmp_uint64 longest_us = 1'000;
  static constexpr kmp_uint64 longest_to_learn_us = 50;

  kmp_hierbar_patience_t *learner = NULL; // whom this wait tells something
  kmp_uint64 begin = 0;
  kmp_uint32 yields_before = 0;

  static void limit(kmp_info_t *thread, kmp_uint64 us) {
    const kmp_uint64 ticks = __kmp_hierbar_ticks(us);
    thread->th.th_team_bt_intervals = KMP_MIN(ticks, thread->th.th_team_bt_intervals);
  }

  [[gnu::noinline]] void learn() const {
    const bool was_vain = learner->num_yields - yields_before > many_yields && KMP_NOW() - begin > __kmp_hierbar_ticks(long_us);
    learner->num_vain = was_vain ? KMP_MIN(learner->num_vain + 1, many_vain) : 0;
  }

public:
  // A blocktime from kmp_set_blocktime() is left alone: it is not the default's.
  explicit kmp_hierbar_limited_wait_t(kmp_info_t *thread) {
    if (__kmp_env_blocktime || thread->th.th_team_bt_intervals != __kmp_hierbar_ticks(__kmp_dflt_blocktime))
      return;
    if (__kmp_hierbar_sleeps_early()) {
      limit(thread, 0);
    } else if (KMP_OVERSUBSCRIBED) {
      kmp_hierbar_patience_t &own = __kmp_hierbar_patience;
      const bool is_patient = own.num_vain < many_vain;
      const bool yields = is_patient || own.num_waits++ % wait_to_learn == 0;
      limit(thread, is_patient ? longest_us : yields ? longest_to_learn_us : 0);
      learner = yields ? &own : NULL; // one that sleeps at once shows nothing
      yields_before = own.num_yields;
      begin = KMP_NOW();
    }
  }
  // The first thing behind a wait is a fence that orders loads, here as in its callers (omp.acquire).
  // What is learned is out of line, so that compilers put no load before it.
  ~kmp_hierbar_limited_wait_t() {
    std::atomic_thread_fence(std::memory_order_acquire);
    if (learner != NULL)
      learn();
  }
  kmp_hierbar_limited_wait_t(const kmp_hierbar_limited_wait_t &) = delete;
  kmp_hierbar_limited_wait_t &operator=(const kmp_hierbar_limited_wait_t &) = delete;
};

#endif // KMP_HIERBAR_PATIENCE_H

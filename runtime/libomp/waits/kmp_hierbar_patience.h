// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_PATIENCE_H
#define KMP_HIERBAR_PATIENCE_H

// How long a thread yields in __kmp_wait_template before it sleeps. That sleeps after
// th_team_bt_intervals, which libomp sets anew in each barrier.
//
// Beside others who hold the cpus it sleeps at once. Where the process's own threads outnumber the
// cpus, yields are the quickest way to let a partner arrive that is about to. While one that
// computes is waited for, each yield is a context switch for nothing. Which of the two it is a
// thread learns from its own waits: after some long ones in a row it sleeps at once, but for one
// wait in 64, which shows whether that is still so (docs/decisions/0176).

#include "kmp.h"
#include "waits/kmp_hierbar_contention.h"
#include "waits/kmp_hierbar_waits.h"

// Of one thread.
struct kmp_hierbar_patience_t {
  int num_long; // long waits in a row, up to most_long
  kmp_uint32 num_waits;
};
extern __thread kmp_hierbar_patience_t __kmp_hierbar_patience;

// Exists while its thread waits in __kmp_wait_template.
class kmp_hierbar_limited_wait_t {
  static constexpr int many_long = 4;
  static constexpr int most_long = 8;
  static constexpr kmp_uint32 wait_to_learn = 64; // one in so many, a power of two

  kmp_uint64 begin = 0; // 0: nothing is learned from this wait
  kmp_uint64 short_time = 0;
  bool is_patient = true;

  // A sleep and the wake-up take some 50 µs; each partner that yields takes some of its own.
  static kmp_uint64 longest_short_time() { return __kmp_hierbar_ticks(50 + 2 * (kmp_uint64)__kmp_nth); }

public:
  // A blocktime from kmp_set_blocktime() is left alone: it is not the default's.
  explicit kmp_hierbar_limited_wait_t(kmp_info_t *thread) {
    if (__kmp_env_blocktime || thread->th.th_team_bt_intervals != __kmp_hierbar_ticks(__kmp_dflt_blocktime))
      return;
    if (__kmp_hierbar_sleeps_early()) {
      thread->th.th_team_bt_intervals = 0;
    } else if (KMP_OVERSUBSCRIBED) {
      kmp_hierbar_patience_t &patience = __kmp_hierbar_patience;
      is_patient = patience.num_long < many_long || patience.num_waits++ % wait_to_learn == 0;
      short_time = longest_short_time();
      begin = KMP_NOW();
      thread->th.th_team_bt_intervals = is_patient ? KMP_MIN(short_time, thread->th.th_team_bt_intervals) : 0;
    }
  }
  ~kmp_hierbar_limited_wait_t() {
    if (begin == 0)
      return;
    int &num_long = __kmp_hierbar_patience.num_long;
    if (KMP_NOW() - begin > short_time)
      num_long = KMP_MIN(num_long + 1, most_long);
    else
      num_long = is_patient ? 0 : KMP_MAX(num_long - 1, 0);
  }
  kmp_hierbar_limited_wait_t(const kmp_hierbar_limited_wait_t &) = delete;
  kmp_hierbar_limited_wait_t &operator=(const kmp_hierbar_limited_wait_t &) = delete;
};

#endif // KMP_HIERBAR_PATIENCE_H

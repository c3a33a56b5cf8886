// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "waits/kmp_hierbar_patience.h"

__thread kmp_hierbar_patience_t __kmp_hierbar_patience;

namespace {

constexpr int many_vain = 4;
constexpr kmp_uint32 many_yields = 16;
constexpr kmp_uint32 wait_to_learn = 64; // one in so many
constexpr kmp_uint64 long_us = 150;      // a sleep and its end cost a third of that
constexpr kmp_uint64 longest_us = 1'000;
constexpr kmp_uint64 longest_to_learn_us = 50;

void limit(kmp_info_t *thread, kmp_uint64 us) {
  const kmp_uint64 ticks = __kmp_hierbar_ticks(us);
  thread->th.th_team_bt_intervals = KMP_MIN(ticks, thread->th.th_team_bt_intervals);
}

} // namespace

// A blocktime from kmp_set_blocktime() is left alone: it is not the default's.
void kmp_hierbar_limited_wait_t::begin(kmp_info_t *thread) {
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
    start = KMP_NOW();
  }
}

void kmp_hierbar_limited_wait_t::learn() {
  const bool was_vain = learner->num_yields - yields_before > many_yields && KMP_NOW() - start > __kmp_hierbar_ticks(long_us);
  learner->num_vain = was_vain ? KMP_MIN(learner->num_vain + 1, many_vain) : 0;
  learner = NULL;
}

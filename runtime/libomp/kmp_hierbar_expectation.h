// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_EXPECTATION_H
#define KMP_HIERBAR_EXPECTATION_H

// Whether a team's next plain barrier is expected to have tasks. Announcing tasks costs an
// exchange, after which everybody waits once more, for b_go. After two barriers with tasks in a row
// the team expects a third and leaves the exchange out: gather and release are all that is needed.
// Two, so that a program in which barriers with and without tasks alternate keeps the exchange.
//
// An oversubscribed team expects tasks after one such barrier, and stops after two without. There
// an exchange and then a release call the scheduler once more for everybody, and gather and release
// alone are not much slower than an exchange.
//
// A team does the same without tasks while its primary wants to release the others itself
// (barrier/release_choice.hpp).
//
// All threads must choose alike. So only the primary writes the expectation, when all have arrived
// and nobody has been released, and the others read it on arrival.

#include "kmp_hierbar_team.h"

// From this value of task_expectation on, tasks are expected.
#define KMP_HIERBAR_TASKS_EXPECTED 2

static inline bool __kmp_hierbar_has_tasks(const kmp_task_team_t *task_team) {
  return task_team != NULL && (TCR_4(task_team->tt.tt_found_tasks) | TCR_4(task_team->tt.tt_found_proxy_tasks) |
                               TCR_4(task_team->tt.tt_hidden_helper_task_encountered));
}

// Only the primary calls it, between the last arrival and the first release. A barrier that is over
// after its exchange cannot reset the expectation, because the others leave it on their own; that
// there was one is seen at the next barrier with tasks.
static inline void __kmp_hierbar_remember_tasks(kmp_hierbar_team_t *hier, bool had_tasks) {
  const bool follows_another = hier->counts.fast == hier->fast_at_task_barrier;
  hier->fast_at_task_barrier = hier->counts.fast;
  const kmp_uint32 before = hier->task_expectation;
  kmp_uint32 expectation = had_tasks ? 1 : 0;
  if (hier->release_choice.wants_release())
    expectation = hier->release_choice.releases(KMP_NOW()) ? KMP_HIERBAR_TASKS_EXPECTED + 1 : 0;
  else if (hier->engine.is_oversubscribed())
    expectation = had_tasks ? KMP_HIERBAR_TASKS_EXPECTED + 1 : before - (before != 0);
  else if (had_tasks && follows_another)
    expectation = KMP_MIN(before + 1, KMP_HIERBAR_TASKS_EXPECTED);
  if (expectation != before) // all read this line; it is left alone while nothing changes
    hier->task_expectation = expectation;
}

#endif // KMP_HIERBAR_EXPECTATION_H

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_WAITS_H
#define KMP_HIERBAR_WAITS_H

// How long the waits of the runtime poll, and what they do then (docs/design/waiting.md#d0175). One rule
// holds for all of them under KMP_BARRIER=hier:
//
// 1. A wait polls for the blocktime. By default that is 6 ms. A sleep and a wake-up cost some
//    50 µs, about 1 % of a wait that is longer. Other processes get slices of 3 to 4 ms, so a
//    partner who lost its cpu to one is back before its waiter sleeps.
// 2. Then it sleeps. Barriers, forks and locks are woken. Other waits (for tasks, for the turn in an
//    ordered loop, for an iteration of a doacross loop) nap: for a 32nd of the time that they have
//    waited, 1 ms at most. So they come too late by about 3 % of what they waited, and use about 1 %
//    of a cpu.
// 3. Where threads outnumber the cpus, or others hold them, or a control group gives less time than
//    the threads would use, polling takes time from those who are waited for. It ends earlier.
//
// A blocktime that the user chose (KMP_BLOCKTIME, OMP_WAIT_POLICY, kmp_set_blocktime()) is obeyed:
// with an infinite one nothing sleeps, with 0 everything sleeps at once.

#include "kmp.h"

// In µs.
constexpr int __kmp_hierbar_default_blocktime = 6'000;

// When libomp knows its own settings: the default blocktime, the kind of locks, the quota.
void __kmp_hierbar_read_waits();

// In units of KMP_NOW().
static inline kmp_uint64 __kmp_hierbar_ticks(kmp_uint64 us) {
#if KMP_OS_UNIX && (KMP_ARCH_X86 || KMP_ARCH_X86_64)
  return us * __kmp_ticks_per_usec;
#else
  return us * KMP_NSEC_PER_USEC;
#endif
}

// The calling thread has run a task: a wait that it is in begins anew. Returns whether it yields
// before the next one, as LLVM's do. Where each thread has a cpu of its own, nobody would use that.
// Where it has not, the thread has work that others wait for.
bool __kmp_hierbar_ran_task();

// One look of a wait that runs tasks, after it has found none. `since` is as in
// __kmp_hierbar_yield_in_wait().
void __kmp_hierbar_look_for_tasks(kmp_uint64 *since);

// Polls a lock until it is free, and returns true, or for as long as that can pay.
bool __kmp_hierbar_poll_lock(const volatile kmp_int32 *word, kmp_int32 free);

// Wakes one that sleeps at a futex lock, after it was freed.
void __kmp_hierbar_wake_at_lock(const volatile kmp_int32 *word);

#endif // KMP_HIERBAR_WAITS_H

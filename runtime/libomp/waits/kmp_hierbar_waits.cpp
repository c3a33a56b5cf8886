// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "waits/kmp_hierbar_waits.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "barrier/real_mem.hpp"
#include "base/trusted_variable.hpp"
#include "kmp_hierbar.h"
#include "kmp_hierbar_team.h"
#include "kmp_lock.h"
#include "waits/kmp_hierbar_contention.h"

int __kmp_hierbar_cpu_quota = INT_MAX;

namespace {

// Set when this thread has run a task; the next look of its wait takes it back.
__thread bool has_run_task [[gnu::tls_model("initial-exec")]];

// Polling takes time from those who are waited for.
inline bool polling_harms() { return KMP_OVERSUBSCRIBED || __kmp_hierbar_sleeps_early(); }

// For how long a wait polls that naps afterwards, in µs; never with an infinite blocktime. A nap is
// late by the kernel's timer slack of 50 µs at least, so it does not pay after less than a
// millisecond.
constexpr int least_before_nap = 1'000;

inline bool polls_for_ever() { return __kmp_dflt_blocktime == KMP_MAX_BLOCKTIME; }

inline kmp_uint64 time_before_nap() {
  const int limit = polling_harms() ? std::min(__kmp_dflt_blocktime, least_before_nap) : __kmp_dflt_blocktime;
  return __kmp_hierbar_ticks(limit);
}

// How long the wait has lasted, or the time since it last ran a task.
kmp_uint64 time_since(kmp_uint64 *since) {
  const kmp_uint64 now = KMP_NOW();
  if (*since == __kmp_pause_init || has_run_task) {
    *since = now;
    has_run_task = false;
  }
  return now - *since;
}

// Where the user asked for passive waits, he prefers a late wait to many naps.
void nap(kmp_uint64 waited) {
  const kmp_uint64 waited_us = waited / __kmp_hierbar_ticks(1);
  const kmp_uint64 part = __kmp_dflt_blocktime == 0 ? 8 : 32;
  const long length_ns = 1'000 * (long)std::min<kmp_uint64>(waited_us / part + 1, 1'000);
  const timespec length = {0, length_ns};
  kmp_int32 word = 0;
  const int own_errno = errno;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &length, NULL, 0); // nanosleep() would be a cancellation point
  errno = own_errno;
}

// A blocktime that is LLVM's default was not chosen by anybody.
void choose_blocktime() {
  if (!__kmp_env_blocktime && __kmp_dflt_blocktime == KMP_DEFAULT_BLOCKTIME)
    __kmp_dflt_blocktime = std::min(__kmp_dflt_blocktime, __kmp_hierbar_default_blocktime);
}

// LLVM's default, the queuing lock, hands itself from waiter to waiter, each of which polls without
// end. A futex lock is one word: without contention it costs half as much, its waiters can sleep,
// and a thread that runs may take it before one that has to be woken. Each lock knows its kind, so
// those that were initialised before stay what they are.
void choose_locks() {
#if KMP_USE_FUTEX && KMP_USE_DYNAMIC_LOCK
  if (hierbar::trusted_variable("KMP_LOCK_KIND") != NULL)
    return;
  __kmp_user_lock_kind = lk_futex;
  __kmp_user_lock_seq = lockseq_futex;
#endif
}

} // namespace

void __kmp_hierbar_read_waits() {
  choose_blocktime();
  choose_locks();
  const uint32_t quota = __kmp_hierbar_library.cpu_quota();
  __kmp_hierbar_cpu_quota = quota == 0 ? INT_MAX : (int)quota;
}

bool __kmp_hierbar_ran_task() {
  has_run_task = true;
  return !__kmp_hierbar_enabled;
}

void __kmp_hierbar_yield_in_wait(kmp_uint64 *since) {
  if (!__kmp_hierbar_enabled || polls_for_ever()) {
    __kmp_yield();
    return;
  }
  const kmp_uint64 waited = time_since(since);
  if (waited < time_before_nap())
    __kmp_yield();
  else
    nap(waited);
}

// A look into the others' deques takes about as long as some pauses. Where each thread has a cpu,
// nobody needs a yield.
void __kmp_hierbar_look_for_tasks(kmp_uint64 *since) {
  if (!__kmp_hierbar_enabled)
    return;
  if (polling_harms()) {
    __kmp_hierbar_yield_in_wait(since);
    return;
  }
  KMP_CPU_PAUSE();
  const kmp_uint64 waited = time_since(since);
  if (!polls_for_ever() && waited >= time_before_nap())
    nap(waited);
}

bool __kmp_hierbar_poll_lock(const volatile kmp_int32 *word, kmp_int32 free) {
  constexpr int most_pauses = 16; // between looks, so that many waiters leave the line alone
  constexpr kmp_uint64 harmless_us = 10;
  const kmp_uint64 limit = __kmp_hierbar_ticks(polling_harms() ? harmless_us : (kmp_uint64)__kmp_dflt_blocktime);
  const kmp_uint64 start = KMP_NOW();
  for (int pauses = 1; TCR_4(*word) != free; pauses = std::min(2 * pauses, most_pauses)) {
    for (int i = 0; i < pauses; ++i)
      hierbar::cpu_pause();
    if (!polls_for_ever() && KMP_NOW() - start >= limit)
      return false;
  }
  return true;
}

void __kmp_hierbar_wake_at_lock(const volatile kmp_int32 *word) {
  const int own_errno = errno;
  syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); // not private: LLVM's waits are not
  errno = own_errno;
}

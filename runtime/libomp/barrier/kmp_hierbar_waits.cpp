// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "libomp/barrier/kmp_hierbar_waits.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "barrier/real_mem.hpp"
#include "base/clock.hpp"
#include "base/futex.hpp"
#include "base/trusted_variable.hpp"
#include "kmp_lock.h"
#include "libomp/kmp_hierbar_library.h"
#include "libomp/kmp_hierbar_settings.h"

int __kmp_hierbar_cpu_quota = INT_MAX;

namespace {

// Set when this thread has run a task; the next look of its wait takes it back.
__thread bool has_run_task [[gnu::tls_model("initial-exec")]];

// When this thread last yielded between two tasks, in units of KMP_NOW().
__thread kmp_uint64 last_yield_of_tasks [[gnu::tls_model("initial-exec")]];

// Polling takes time from those who are waited for.
inline bool polling_harms() { return KMP_OVERSUBSCRIBED || __kmp_hierbar_sleeps_early(); }

// For how long a wait polls that naps afterwards, in µs; never with an infinite blocktime. A nap is
// late by the kernel's timer slack of 50 µs at least, so it does not pay after less than a
// millisecond.
constexpr int least_before_nap = 1'000;

inline bool polls_for_ever() { return __kmp_dflt_blocktime == KMP_MAX_BLOCKTIME; }

inline kmp_uint64 time_before_nap() {
  const int limit =
      polling_harms() ? std::min(__kmp_dflt_blocktime, least_before_nap) : __kmp_dflt_blocktime;
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

// How many threads there are for each cpu, rounded up.
kmp_uint64 threads_per_cpu() {
  const int num_cpus =
      std::min(__kmp_avail_proc ? __kmp_avail_proc : __kmp_xproc, __kmp_hierbar_cpu_quota);
  return (kmp_uint64)((TCR_4(__kmp_nth) - 1) / std::max(num_cpus, 1) + 1);
}

// Where the user asked for passive waits, he prefers a late wait to many naps. The end of a nap
// takes some 5 µs of a cpu. Where many threads share one, naps are so long that their ends take a
// quarter of it: 1,000 threads on two cpus that napped for 1 ms each left no time for the task that
// all waited for.
void nap(kmp_uint64 waited) {
  constexpr kmp_uint64 longest_us = 1'000;
  constexpr kmp_uint64 share_us = 20; // of each thread on the cpu
  constexpr kmp_uint64 most_us = 100'000;
  const kmp_uint64 waited_us = waited / __kmp_hierbar_ticks(1);
  const kmp_uint64 part = __kmp_dflt_blocktime == 0 ? 8 : 32;
  const kmp_uint64 by_time = std::min(waited_us / part + 1, longest_us);
  const kmp_uint64 by_share = std::min({waited_us / 2, share_us * threads_per_cpu(), most_us});
  const long length_ns = 1'000 * (long)std::max(by_time, by_share);
  const timespec length = {0, length_ns};
  kmp_int32 word = 0;
  const int own_errno = errno;
  syscall(hierbar::kFutexCall, &word, FUTEX_WAIT_PRIVATE, 0, &length, NULL,
          0); // nanosleep() would be a cancellation point
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

#if KMP_ARCH_X86 || KMP_ARCH_X86_64

namespace {

struct moment_t {
  kmp_uint64 ticks;
  kmp_int64 ns;
};

// The thread may lose its cpu between two readings, so the closest ones of some are taken.
moment_t read_both_clocks() {
  moment_t moment{};
  kmp_uint64 closest = ~kmp_uint64{0};
  for (int reading = 0; reading < 4; ++reading) {
    const kmp_uint64 ticks = __kmp_hardware_timestamp();
    const kmp_int64 ns = hierbar::monotonic_ns();
    const kmp_uint64 took = __kmp_hardware_timestamp() - ticks;
    if (took >= closest)
      continue;
    closest = took;
    moment = {ticks + took / 2, ns};
  }
  return moment;
}

} // namespace

// Both clocks are read within some 20 ns, so that the result is right within 0.2 %.
void __kmp_hierbar_measure_ticks() {
  constexpr kmp_int64 interval_ns = 20'000;
  const moment_t start = read_both_clocks();
  moment_t end = start;
  while (end.ns - start.ns < interval_ns)
    end = read_both_clocks();
  const double per_us = 1e3 * (double)(end.ticks - start.ticks) / (double)(end.ns - start.ns);
  if (per_us < 1)
    return; // LLVM's default stays
  __kmp_ticks_per_usec = (kmp_uint64)per_us;
  __kmp_ticks_per_msec = (kmp_uint64)(1e3 * per_us);
}

#endif

bool __kmp_hierbar_ran_task() {
  constexpr kmp_uint64 between_yields_us = 50;
  has_run_task = true;
  if (!__kmp_hierbar_enabled)
    return true;
  if (!polling_harms())
    return false;
  const kmp_uint64 now = KMP_NOW();
  if (now - last_yield_of_tasks < __kmp_hierbar_ticks(between_yields_us))
    return false;
  last_yield_of_tasks = now;
  return true;
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

// Such a lock is handed over in the order of arrival. If threads outnumber the cpus, the next in
// the row often has none, and all that come after wait for a context switch each.
bool __kmp_hierbar_lock_to_steal(kmp_bootstrap_lock_t *lock) {
  if (!__kmp_hierbar_enabled || !polling_harms()) {
    __kmp_acquire_bootstrap_lock(lock);
    return true;
  }
  if (!__kmp_test_bootstrap_lock(lock))
    return false;
  // Pairs with the release of now_serving in __kmp_release_ticket_lock(). LLVM's test reads that
  // word by a relaxed load. Its acquire is of next_ticket, which no owner releases, so without the
  // fence the deque's old contents may be read.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

bool __kmp_hierbar_poll_lock(const volatile kmp_int32 *word, kmp_int32 free) {
  constexpr int most_pauses = 16; // between looks, so that many waiters leave the line alone
  constexpr kmp_uint64 harmless_us = 10;
  const kmp_uint64 limit =
      __kmp_hierbar_ticks(polling_harms() ? harmless_us : (kmp_uint64)__kmp_dflt_blocktime);
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
  // Not of the private kind, as LLVM's waits.
  syscall(hierbar::kFutexCall, word, FUTEX_WAKE, 1, NULL, NULL, 0);
  errno = own_errno;
}

// ---- beside others who want the cpus ----

hierbar::Contention __kmp_hierbar_contention;

namespace {

// Of one thread.
struct yields_t {
  kmp_uint64 last;      // when it last yielded, or was about to, in units of KMP_NOW()
  int num_to_time;      // how many of its next yields are timed
  kmp_uint32 num_early; // calls while waits slept early
};

__thread yields_t yields [[gnu::tls_model("initial-exec")]];

// Enough to see whether the yield that took so long was one of many.
constexpr int num_timed_yields = 16;

// While waits sleep early, one of so many calls yields.
constexpr kmp_uint32 num_early_calls = 64;

static_assert(hierbar::Contention::kLong_ns == 1'000'000, "long_time() is a millisecond");

// A long yield, in units of KMP_NOW().
inline kmp_uint64 long_time() {
#if KMP_ARCH_X86 || KMP_ARCH_X86_64
  return __kmp_ticks_per_msec;
#else
  return hierbar::Contention::kLong_ns;
#endif
}

void timed_yield() {
  using hierbar::Contention;
  const kmp_int64 start_ns = Contention::monotonic_now();
  sched_yield();
  const kmp_int64 end_ns = Contention::monotonic_now();
  if (end_ns - start_ns >= Contention::kLong_ns)
    __kmp_hierbar_contention.add_long_yield(start_ns, end_ns);
}

} // namespace

bool __kmp_hierbar_yielded_for_long(int num_threads) {
  return yields.last != 0 && (KMP_NOW() - yields.last) * 100 >= long_time() * (10 + num_threads);
}

// Reading a clock before and after each yield makes barriers of 8 threads on 2 cpus 9 % slower. One
// reading shows whether a long yield can have lain between it and the thread's yield before. Only
// then are the next yields timed; the thread may as well have computed.
//
// While waits sleep early, a yield costs a slice of whoever holds the cpu, and the sleep that is
// about to follow gives the cpu away as well. One yield in 64 is enough to see whether that is
// still so. A wait that may not sleep (for a lock or for tasks) yields after every 64 looks, some
// µs.
void __kmp_hierbar_yield() {
  ++__kmp_hierbar_patience.num_yields;
  const kmp_uint64 now = KMP_NOW();
  const bool is_early = KMP_OVERSUBSCRIBED && __kmp_hierbar_sleeps_early();
  if (is_early || now - yields.last >= long_time())
    yields.num_to_time = num_timed_yields;
  yields.last = now;
  if (is_early && ++yields.num_early % num_early_calls != 0)
    return;
  if (yields.num_to_time == 0) {
    sched_yield();
    return;
  }
  --yields.num_to_time;
  timed_yield();
}

// ---- how long a thread yields before it sleeps ----

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
  if (__kmp_env_blocktime ||
      thread->th.th_team_bt_intervals != __kmp_hierbar_ticks(__kmp_dflt_blocktime))
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
  const bool was_vain = learner->num_yields - yields_before > many_yields &&
                        KMP_NOW() - start > __kmp_hierbar_ticks(long_us);
  learner->num_vain = was_vain ? KMP_MIN(learner->num_vain + 1, many_vain) : 0;
  learner = NULL;
}

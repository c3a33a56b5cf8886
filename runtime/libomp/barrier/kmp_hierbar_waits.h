// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_WAITS_H
#define KMP_HIERBAR_WAITS_H

// How long the waits of the runtime poll, and what they do then (docs/design/waiting.md#d0175). One
// rule holds for all of them under KMP_BARRIER=hier:
//
// 1. A wait polls for the blocktime. By default that is 6 ms. A sleep and a wake-up cost some
//    50 µs, about 1 % of a wait that is longer. Other processes get slices of 3 to 4 ms, so a
//    partner that lost its cpu to one is back before its waiter sleeps.
// 2. Then it sleeps. Barriers, forks and locks are woken. Other waits (for tasks, for the turn in
//    an ordered loop, for an iteration of a doacross loop) nap: for a 32nd of the time that they
//    have waited, 1 ms at most. This makes them about 3 % longer, and uses about 1 % of a cpu.
// 3. If threads outnumber the cpus, or others hold them, or a control group gives less time than
//    the threads would use, polling takes time from the awaited threads. It ends earlier. The end
//    of a nap takes time from them, too, so naps grow with the number of threads for each cpu: up
//    to half of the time that they have waited, 100 ms at most.
//
// A blocktime that the user chose (KMP_BLOCKTIME, OMP_WAIT_POLICY, kmp_set_blocktime()) is obeyed:
// with an infinite one nothing sleeps, with 0 everything sleeps at once.

#include "kmp.h"

#include "barrier/contention.hpp"

// In µs.
constexpr int __kmp_hierbar_default_blocktime = 6'000;

// Sets the default blocktime, the kind of locks and the quota. Called when libomp has read its own
// settings.
void __kmp_hierbar_read_waits();

#if KMP_ARCH_X86 || KMP_ARCH_X86_64
// Measures how fast the time-stamp counter counts. LLVM's way takes half a millisecond.
void __kmp_hierbar_measure_ticks();
#endif

// In units of KMP_NOW().
static inline kmp_uint64 __kmp_hierbar_ticks(kmp_uint64 us) {
#if KMP_OS_UNIX && (KMP_ARCH_X86 || KMP_ARCH_X86_64)
  return us * __kmp_ticks_per_usec;
#else
  return us * KMP_NSEC_PER_USEC;
#endif
}

// sched_yield(), and a check for others that want the cpu: a waiting thread gives its cpu to
// others. Called by z_Linux_util.cpp.
void __kmp_hierbar_yield();

// The same in a wait that is polled: after a while the thread naps in place of yielding. `since` is
// __kmp_pause_init when the wait begins, then when it began. Without KMP_BARRIER=hier:
// __kmp_yield(). Called by kmp.h.
void __kmp_hierbar_yield_in_wait(kmp_uint64 *since);

// The calling thread has run a task, so its current wait begins anew. Returns whether it yields
// before the next task. LLVM's threads yield after each one. If each thread has its own cpu, nobody
// would use the yield. Otherwise a thread that yields now and then is rarely stopped while it has
// the lock of a deque; but a yield may be a context switch, which takes longer than a small task.
bool __kmp_hierbar_ran_task();

// One poll of a wait that runs tasks, after it has found none. `since` is as in
// __kmp_hierbar_yield_in_wait().
void __kmp_hierbar_look_for_tasks(kmp_uint64 *since);

// Takes the lock of a deque from which the calling thread wants a task. Returns false if another
// thread has the lock and threads outnumber the cpus.
bool __kmp_hierbar_lock_to_steal(kmp_bootstrap_lock_t *lock);

// Polls a lock until it is free, and returns true. Returns false after the time in which polling
// can pay off.
bool __kmp_hierbar_poll_lock(const volatile kmp_int32 *word, kmp_int32 free);

// Wakes one thread that sleeps at a futex lock, after the lock was freed.
void __kmp_hierbar_wake_at_lock(const volatile kmp_int32 *word);

// ---- beside others that want the same cpus ----

// The others are root threads and their teams, threads that are not OpenMP's, and other processes.
// A waiting thread of libomp yields for the whole blocktime. Once a yield has shown that another
// thread holds a cpu, the waits of all threads of the process sleep without a blocktime. Where
// threads outnumber cpus one wait in 64 yields first, which shows when that ends.

extern hierbar::Contention __kmp_hierbar_contention;

// True if the thread's last yield took longer than 100 µs + 10 µs per thread, which is longer than
// waiting threads alone can explain.
bool __kmp_hierbar_yielded_for_long(int num_threads);

// How many cpus' worth of time the process's control groups allow it; INT_MAX: no limit.
extern int __kmp_hierbar_cpu_quota;

// Whether the threads of the process would use more time than its control groups allow. Then even a
// wait on an idle cpu takes time from the other threads.
static inline bool __kmp_hierbar_exceeds_quota() {
  return UNLIKELY(TCR_4(__kmp_nth) > __kmp_hierbar_cpu_quota);
}

// Whether a wait that begins now sleeps early. A blocktime that the user chose is left alone.
static inline bool __kmp_hierbar_sleeps_early() {
  return (__kmp_hierbar_contention.is_remembered() || __kmp_hierbar_exceeds_quota()) &&
         !__kmp_env_blocktime;
}

// ---- how long a thread yields before it sleeps ----

// How long a thread yields in __kmp_wait_template before it sleeps. That sleeps after
// th_team_bt_intervals, which libomp sets anew in each barrier.
//
// Beside others that hold the cpus it sleeps at once. If the process's own threads outnumber the
// cpus, a yield lets a computing partner run, and returns when that one has arrived. Many yields in
// a wait show that nobody else needs the cpu: the partner computes on another one. Then each yield
// is a useless context switch. A thread learns from its own waits which case applies. After some
// long waits in a row with many yields it sleeps at once. One wait in 64 still yields, to detect a
// change (docs/design/waiting.md#d0176).

// Of one thread.
struct kmp_hierbar_patience_t {
  int num_vain;          // long waits in a row with many yields, up to many_vain
  kmp_uint32 num_waits;  // while it does not yield
  kmp_uint32 num_yields; // all that the thread has made
};
extern __thread kmp_hierbar_patience_t __kmp_hierbar_patience [[gnu::tls_model("initial-exec")]];

// One wait in __kmp_wait_template. begin() comes before it, and end() after the fence that follows
// it, so that no load comes between wait and fence (omp.acquire). Their code is out of line for the
// same reason. If each thread has a cpu, nothing is learned.
class kmp_hierbar_limited_wait_t {
  kmp_hierbar_patience_t *learner = NULL; // the thread that learns from this wait
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
    if (__kmp_hierbar_sleeps_early() &&
        thread->th.th_team_bt_intervals == __kmp_hierbar_ticks(__kmp_dflt_blocktime))
      thread->th.th_team_bt_intervals = 0;
  }
  void end() {}
};
#endif

#endif // KMP_HIERBAR_WAITS_H

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "libomp/kmp_hierbar_process.h"

#include <unistd.h>

#include "base/clock.hpp"
#include "kmp_itt.h"
#include "libomp/barrier/kmp_hierbar_report.h"
#include "libomp/kmp_hierbar_other_runtimes.h"
#if OMPT_SUPPORT
#include "ompt-internal.h"
#endif

// ---- pauses ----

// A hard pause takes libomp down; the next construct starts it again. What threads remember of the
// number that they had is then out of date in two places.
void __kmp_hierbar_forget_number() {
#ifdef KMP_TDATA_GTID
  __kmp_gtid = KMP_GTID_DNE; // omp_get_thread_num() looks only here
#endif
  if (TCR_4(__kmp_init_gtid)) // other roots keep the library up
    pthread_setspecific(__kmp_gtid_threadprivate_key, NULL);
}

// Code that Clang compiled asks once for each function, and hands the number to every construct.
// The initial thread has number 0 before and after. Another thread has a new one where the library
// is up again, so its constructs must not go on with the old one.
bool __kmp_hierbar_has_restarted(kmp_int32 gtid) {
  return !TCR_4(__kmp_init_serial) && __kmp_entry_gtid() == gtid;
}

// ---- the end of the process ----

// exit() runs the destructors of all libraries while other threads of the
// program go on. LLVM's library takes itself apart there if no region is active at that moment: it
// joins its workers and frees its memory. A thread that begins its next region then reads what has
// been freed (UPSTREAM.md, 25), and the joined workers run the destructors of their thread_local
// objects after those of the static objects that they may use.
//
// Nothing has to be given back when a process ends. So nothing is freed here, nobody is joined, and
// regions that run go on until the process is gone, as under GCC's library. What is left to do is
// what can be seen from outside: tasks of hidden helpers end, and the reports are written.
//
// A tool is to be told that the workers end. They can tell it only themselves, so where a tool
// looks on and no other thread of the program has used OpenMP, LLVM's way is taken. A worker that
// has told the tool then waits for the end of the process, where LLVM's would return: so
// thread_local objects are left alone here, too.
//
// This library is never unloaded (sources.cmake), so its destructor runs at the end of the process
// and at no other time.

// (kmp_hierbar_process.E1) set once, by the thread that runs the destructors; (E2) read by all.
// Relaxed (E2): a thread that sees it late does what it would have done a moment earlier.
static std::atomic<bool> is_exiting(false);
static __thread bool exits; // the thread that runs the destructors

bool __kmp_hierbar_is_exiting() { return is_exiting.load(std::memory_order_relaxed); }

// ---- libraries that are opened meanwhile ----
//
// A thread counts itself (O1) and then looks whether the end has begun (O2). The end begins (E1)
// and then looks who is counted (O3). All four are seq_cst, so at least one of the two sees the
// other: either the end waits for the thread, or the thread for the end.
//
// Neither waits for ever. A destructor may wait for a thread that waits here, and a thread that is
// counted may wait for one that the end has stopped. Without such a destructor an end takes less
// than a millisecond, and the start of this library some milliseconds.

static std::atomic<int> num_opening(0);
static __thread int num_own_opening; // a plan is made while the library starts

template <class Condition> static void await(int limit_ms, Condition condition) {
  const int64_t limit_ns = hierbar::monotonic_ns() + int64_t{limit_ms} * 1'000'000;
  while (!condition() && hierbar::monotonic_ns() < limit_ns)
    usleep(100);
}

kmp_hierbar_opening_t::kmp_hierbar_opening_t() {
  ++num_own_opening;
  num_opening.fetch_add(1, std::memory_order_seq_cst);             // (kmp_hierbar_process.O1)
  const bool is_late = is_exiting.load(std::memory_order_seq_cst); // (kmp_hierbar_process.O2)
  if (!is_late || exits || num_own_opening > 1)
    return;
  num_opening.fetch_sub(1, std::memory_order_relaxed); // nobody is to wait for a thread that waits
  await(100, [] { return false; });
  num_opening.fetch_add(1, std::memory_order_relaxed);
}

kmp_hierbar_opening_t::~kmp_hierbar_opening_t() {
  --num_own_opening;
  // (kmp_hierbar_process.O4) store-release; pairs with (O3): what the thread did is over.
  num_opening.fetch_sub(1, std::memory_order_release);
}

static void let_others_open() {
  await(1'000, [] { // (kmp_hierbar_process.O3)
    return num_opening.load(std::memory_order_seq_cst) <= num_own_opening;
  });
}

// What main() has begun by `target nowait` and the like is part of the program.
static void finish_tasks_of_others(int gtid) {
  if (TCR_4(__kmp_init_hidden_helper) && !TCR_4(__kmp_hidden_helper_team_done) &&
      !KMP_HIDDEN_HELPER_THREAD(gtid)) {
    TCW_SYNC_4(__kmp_hidden_helper_team_done, TRUE);
    __kmp_hidden_helper_main_thread_release();
    __kmp_hidden_helper_threads_deinitz_wait();
  }
  if (gtid < 0 || !KMP_UBER_GTID(gtid) || __kmp_root[gtid]->r.r_active)
    return;
  kmp_info_t *thread = __kmp_threads[gtid];
  const kmp_task_team_t *task_team = thread->th.th_task_team;
  if (task_team != NULL &&
      (task_team->tt.tt_found_proxy_tasks || task_team->tt.tt_hidden_helper_task_encountered))
    __kmp_task_team_wait(thread, thread->th.th_team USE_ITT_BUILD_ARG(NULL));
}

// Whether no thread but this one could be inside the library, except for workers that wait for a
// region.
static bool is_only_root(int gtid) {
  if (gtid >= 0 && (!KMP_UBER_GTID(gtid) || __kmp_root[gtid]->r.r_active))
    return false;
  if (!__kmp_test_bootstrap_lock(&__kmp_forkjoin_lock)) // somebody forks or joins
    return false;
  bool result = true;
  for (int i = 0; i < __kmp_threads_capacity; ++i)
    result = result && (i == gtid || !KMP_UBER_GTID(i) || KMP_HIDDEN_HELPER_THREAD(i));
  __kmp_release_bootstrap_lock(&__kmp_forkjoin_lock);
  return result;
}

bool __kmp_hierbar_exit() {
  exits = true;
  is_exiting.store(true, std::memory_order_seq_cst); // (E1)
  let_others_open();
  if (!__kmp_init_serial || TCR_4(__kmp_global.g.g_done))
    return true;
  const int gtid = __kmp_gtid_get_specific();
  finish_tasks_of_others(gtid);
#if OMPT_SUPPORT
  if (ompt_enabled.enabled && is_only_root(gtid))
    return false;
#endif
  __kmp_hierbar_finish();
  __kmp_unregister_library();
#if OMPT_SUPPORT
  ompt_fini();
#endif
  return true;
}

#if OMPT_SUPPORT
// The tool hears nothing more. Whether there is one stays as it was for threads that still run: two
// threads of a team that saw different answers would take different ways through a barrier.
void __kmp_hierbar_silence_tool() {
  ompt_callbacks_active_t silent;
  memset(&silent, 0, sizeof(silent));
  silent.enabled = __kmp_init_serial ? ompt_enabled.enabled : 0;
  ompt_enabled = silent;
}
#endif

void __kmp_hierbar_worker_ended(kmp_info_t *thread) {
  if (!__kmp_hierbar_is_exiting()) // (E2)
    return;
  // (kmp_hierbar_process.W1) store-release; pairs with (W2). After it the thread's memory may be
  // freed.
  thread->th.th_hierbar_has_ended.store(true, std::memory_order_release);
  for (;;)
    pause();
}

bool __kmp_hierbar_await_end(kmp_info_t *thread) {
  if (!__kmp_hierbar_is_exiting()) // (E2)
    return false;
  // (kmp_hierbar_process.W2) load-acquire; pairs with (W1): what the worker and the tool did is
  // over.
  while (!thread->th.th_hierbar_has_ended.load(std::memory_order_acquire))
    KMP_YIELD(TRUE);
  return true;
}

// ---- fork() ----

// A forked child has one thread, the copy of the one that called fork(). libomp abandons the
// parent's teams and begins anew, but takes some things of the parent's for its own.
void __kmp_hierbar_forget_parent() {
  __kmp_hierbar_unregister_library(); // many a child never uses OpenMP; it registers when it does
  __kmp_thread_pool_active_nth.store(0, std::memory_order_relaxed); // of the parent's workers
  num_opening.store(num_own_opening, std::memory_order_relaxed);    // the parent's others are gone
}

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KMP_HIERBAR_HOST_H
#define KMP_HIERBAR_HOST_H

// How a thread of libomp waits in the barrier: a short spin, then libomp's own wait loop (tasks,
// yields, blocktime, sleep, shutdown), on a flag that knows what the barrier waits for.

#include "kmp.h"
#include "kmp_wait_release.h"
#include "libomp/barrier/kmp_hierbar_waits.h"

#include "barrier/barrier.hpp"
#include "barrier/real_mem.hpp"
#include "barrier/waiting.hpp"
#include "base/membarrier.hpp"

class kmp_hierbar_host_t;
typedef hierbar::RealMem<kmp_hierbar_host_t> kmp_hierbar_mem_t;
typedef hierbar::AwaitedWord<kmp_hierbar_mem_t> kmp_hierbar_pending_t;
typedef hierbar::Barrier<kmp_hierbar_mem_t> kmp_hierbar_engine_t;

static constexpr hierbar::WaitPolicy __kmp_hierbar_wait_policy = hierbar::WaitPolicy::of_openmp();
static constexpr hierbar::WaitPolicy __kmp_hierbar_early_sleep_policy =
    hierbar::WaitPolicy::of_openmp_before_early_sleep();

extern int __kmp_hierbar_pauses_per_poll;

// Whether the system lets a sleeper fence for the writers (barrier/awaited_word.hpp).
extern bool __kmp_hierbar_sleepers_fence;

// Sets these two when the settings are read, and again in a forked child.
void __kmp_hierbar_measure_host();

// A flag whose condition is the barrier's and whose sleep is announced to the one thread that will
// end it. It is a kmp_flag_64, so that task stealing and __kmp_enable_tasking wake it through
// th_sleep_loc like any other. It lives on the waiter's stack: tasks that run while it waits may
// change the thread's team, and the flag keeps what belongs to this wait.
class kmp_hierbar_flag_t final : public kmp_flag_64<false, true> {
  kmp_hierbar_pending_t &pending;
  std::atomic<bool> asleep;

public:
  explicit kmp_hierbar_flag_t(kmp_hierbar_pending_t &p)
      : kmp_flag_64<false, true>(reinterpret_cast<volatile kmp_uint64 *>(&p.awaited()), 0, &asleep),
        pending(p), asleep(false) {}
  bool done_check() override { return pending.ready(); }
  bool done_check_val(kmp_uint64) override { return pending.ready(); }
  bool notdone_check() override { return !pending.ready(); }
  // The writer looks for sleepers after its write. It then takes this thread's suspend mutex, under
  // which suspend() looks at done_check() once more, so the wake-up cannot fall between the look
  // and the sleep.
  void suspend(int gtid) {
    if (pending.announce())
      kmp_flag_64<false, true>::suspend(gtid);
    pending.retract();
  }
};

// Called by the primary after it has waited in an exchange while threads outnumber cpus
// (barrier/release_choice.hpp).
void __kmp_hierbar_note_wait(struct kmp_hierbar_team *hier);

// Number of polls before libomp's wait loop takes over (barrier/waiting.hpp). On AArch64 a wait
// that would then sleep early gets no additional ones, because compilers then move loads above the
// fence that follows a wait (omp.acquire). Zero if a partner may need this cpu, if the user asked
// not to spin, or if there are tasks to run.
static inline bool __kmp_hierbar_has_tasks_to_run(const kmp_info_t *thread) {
  const kmp_task_team_t *task_team = thread->th.th_task_team;
  return task_team != NULL && KMP_TASKING_ENABLED(task_team);
}

static inline int __kmp_hierbar_spin_polls(const kmp_info_t *thread) {
  if (KMP_OVERSUBSCRIBED || __kmp_dflt_blocktime == 0 || __kmp_hierbar_has_tasks_to_run(thread))
    return 0;
#if KMP_ARCH_X86 || KMP_ARCH_X86_64
  if (__kmp_hierbar_sleeps_early())
    return __kmp_hierbar_early_sleep_policy.spin_polls;
#endif
  return __kmp_hierbar_wait_policy.spin_polls;
}

// Makes these polls of a word of libomp. Returns whether it has the value. An acquire fence must
// follow before anything is read that the value publishes.
static inline bool __kmp_hierbar_spin_for(const volatile kmp_uint64 *word, kmp_uint64 value,
                                          const kmp_info_t *thread) {
#if USE_ITT_BUILD
  if (UNLIKELY(__itt_sync_create_ptr != NULL)) // ITT is told of each wait
    return false;
#endif
  if (TCR_8(*word) == value)
    return true;
  for (int polls = __kmp_hierbar_spin_polls(thread);
       polls > 0 && !__kmp_hierbar_has_tasks_to_run(thread); --polls) {
    for (int i = 0; i < __kmp_hierbar_pauses_per_poll; ++i)
      hierbar::cpu_pause();
    if (TCR_8(*word) == value)
      return true;
  }
  return false;
}

// kmp_flag_64::release(), which reads the word once more after its fetch-and-add, to see whether
// the waiter sleeps. By then the waiter has the line and is about to write it. The result of the
// fetch-and-add gives the same information: a thread that falls asleep later finds the new value.
// Like that function, a full barrier.
static inline void __kmp_hierbar_hand_over(volatile kmp_uint64 *word, kmp_info_t *waiter) {
  KMP_FSYNC_RELEASING(CCAST(kmp_uint64 *, word));
  const kmp_uint64 before = KMP_TEST_THEN_ADD4_64(RCAST(volatile kmp_int64 *, word));
  if (UNLIKELY((before & KMP_BARRIER_SLEEP_STATE) != 0)) {
    kmp_flag_64<> flag(word, waiter);
    flag.resume(waiter->th.th_info.ds.ds_gtid);
  }
}

class kmp_hierbar_host_t {
  kmp_info_t *thread;
  kmp_team_t *team;
  int tid;
#if USE_ITT_BUILD
  void *itt_sync_obj;
#endif

public:
  kmp_hierbar_host_t(kmp_info_t *thread, kmp_team_t *team,
                     int tid USE_ITT_BUILD_ARG(void *itt_sync_obj))
      : thread(thread), team(team), tid(tid) USE_ITT_BUILD_ARG(itt_sync_obj(itt_sync_obj)) {}

  // crew_waits: nobody needs this cpu (AwaitedWord::crew_waits()). Tested here and not in the
  // function above, for the same reason as on AArch64 there.
  int spin_polls(bool crew_waits) const {
    const bool polls_alone = crew_waits && KMP_OVERSUBSCRIBED && __kmp_dflt_blocktime != 0 &&
                             !__kmp_hierbar_has_tasks_to_run(thread);
    return polls_alone ? __kmp_hierbar_wait_policy.spin_polls_alone
                       : __kmp_hierbar_spin_polls(thread);
  }
  int pauses_per_poll() const { return __kmp_hierbar_pauses_per_poll; }

  // The condition under which __kmp_wait_template may suspend a thread.
  bool can_sleep() const {
    return __kmp_dflt_blocktime != KMP_MAX_BLOCKTIME || __kmp_pause_status == kmp_soft_paused;
  }

  [[gnu::noinline]] hierbar::WaitResult wait(kmp_hierbar_pending_t &pending) {
#if !KMP_USE_MONITOR
    if (__kmp_dflt_blocktime != KMP_MAX_BLOCKTIME)
      thread->th.th_team_bt_intervals = KMP_BLOCKTIME_INTERVAL(team, tid);
#endif
    kmp_hierbar_limited_wait_t limited;
    limited.begin(thread);
    kmp_hierbar_flag_t flag(pending);
    __kmp_wait_template<kmp_hierbar_flag_t, FALSE>(thread, &flag USE_ITT_BUILD_ARG(itt_sync_obj));
    limited.end();
    if (KMP_MASTER_TID(tid) && KMP_OVERSUBSCRIBED)
      __kmp_hierbar_note_wait(team->t.t_hierbar);
    // The loop ends early only when the library shuts down.
    return pending.ready() ? hierbar::WaitResult::kReleased : hierbar::WaitResult::kAborted;
  }

  bool heavy_fence() { return hierbar::fence_threads(); }

  void wake(kmp_uint32 participant) {
    __kmp_resume_64<false, true>(team->t.t_threads[participant]->th.th_info.ds.ds_gtid, NULL);
  }
};

#endif // KMP_HIERBAR_HOST_H

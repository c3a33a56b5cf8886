// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/arch/pause.hpp"

// All numbers that say how participants wait, for all hosts. Threads (thread_host.hpp), ranks
// (mpi/node/rank_host.hpp) and libomp (runtime/libomp/barrier/kmp_hierbar_host.h) each fill in one
// WaitPolicy from here. Needs no C++ library, because libomp includes it.

namespace hierbar {

// Polls that take about so long.
constexpr int polls_in(long ns) noexcept { return static_cast<int>(ns / kPollSpacing_ns); }

// Polls in place of a yield that would not help, where participants outnumber the cpus: 2 µs, which
// is what a switch to another thread and back costs. Polling for as long as the alternative takes
// never loses more than that (docs/design/waiting.md#d0145).
inline constexpr int kPollsBeforeYield = polls_in(2000);

// How many rounds of a poll and a sched_yield() come before a sleep: some ms. Participants arrive
// either close together or much later.
inline constexpr int kYieldsBeforeSleep = 4000;
// The same where participants outnumber the cpus: some 20 ms, which is several slices of the
// scheduler. A thread to which the scheduler owes time is picked again after every sched_yield(),
// until it has had that time; sleeping does not pay the debt. After too few yields, ranks whose
// set-up took unequal times therefore never got even (docs/design/waiting.md#d0007).
inline constexpr int kYieldsWhenOutnumbered = 40'000;
// The same where all await one word and can be woken together. Participants that yield to each
// other need one or two yields. More do harm beside a thread that computes: Linux 6.18 takes the
// rest of its slice from a thread that yields (docs/design/waiting.md#d0150, 0156).
inline constexpr int kYieldsBeforeSleepTogether = 32;
// The same for processes that the scheduler runs in separate groups (Linux's autogroups, for
// processes of several sessions). Yields reach the others only when the group has had its time.
// With 16 ranks on two cpus that takes up to 128 yields (docs/design/waiting.md#d0156).
inline constexpr int kYieldsBeforeSleepApart = 256;

// The steps of a wait, in this order:
//   1. spin_polls polls, with pauses_per_poll pauses in between.
//   2. Rounds of polls and a sched_yield(), `yields` of them.
//   3. Rounds of polls and a sleep on a futex. The awaited participant ends the sleep.
// A host that makes something else progress does so between polls. libomp takes step 1 from here;
// what follows is its own.
struct WaitPolicy {
  int spin_polls = polls_in(180'000);
  int pauses_per_poll = 1;  // measure_pauses_per_poll() on this processor
  int yields = kYieldsBeforeSleep;
  bool sleeps = true;  // false: nobody sleeps, all yield
  // No sleep is longer. A sleeping thread reads whether the barrier is aborted at least this often;
  // 0: this one does not sleep and yields.
  long longest_sleep_ns = 50'000'000;

  // Of threads. Called before each yield or sleep, unless it is null. Any result but 0 aborts the
  // wait.
  int (*progress)(void* context) = nullptr;
  void* progress_context = nullptr;

  // As spin_polls, if nobody else needs this cpu (AwaitedWord::crew_waits()). The larger counts.
  int spin_polls_alone = 0;

  // The rest is for ranks. Rounds that yield if all ranks of the node await one release.
  int yields_together = kYieldsBeforeSleepTogether;
  // Sleeps double from this one on.
  long first_sleep_ns = 0;
  // Polls between two calls into MPI in which it makes progress, and yielding rounds for each call.
  int polls_between_progress = 0;
  int rounds_per_progress = 1;

  // Threads without a runtime, and the C API. A yield is a system call, a poll is not.
  static constexpr WaitPolicy of_threads() noexcept { return {}; }

  // Threads that may have to make something else progress meanwhile: their sleeps are short.
  static constexpr long kLongestSleepWithProgress_ns = 1'000'000;

  // Ranks. They spin for 2 µs before the first call into MPI, and for about 1 µs between two calls:
  // a call takes the library's lock and evicts what is in the caches. A sleep delays what peers
  // want from this rank's MPI library, so it is short.
  static constexpr WaitPolicy of_ranks() noexcept {
    WaitPolicy policy;
    policy.spin_polls = polls_in(1'800);
    policy.polls_between_progress = polls_in(720);
    policy.first_sleep_ns = 50'000;
    policy.longest_sleep_ns = 500'000;
    return policy;
  }

  // Threads of libomp, before its own wait loop with its clock reads and yields takes over: 10 µs
  // are enough for partners that arrive together, and a task found meanwhile is not kept waiting
  // for long.
  static constexpr WaitPolicy of_openmp() noexcept {
    WaitPolicy policy;
    policy.spin_polls = polls_in(10'000);
    policy.spin_polls_alone = kPollsBeforeYield;
    return policy;
  }
  // The same if the wait would then sleep early, beside others that hold cpus. A sleep costs at
  // least this much, and a slice if another thread holds the cpu. So partners that run, but not in
  // step, should not sleep (docs/design/waiting.md#d0124).
  static constexpr WaitPolicy of_openmp_before_early_sleep() noexcept {
    WaitPolicy policy = of_openmp();
    policy.spin_polls = polls_in(50'000);
    return policy;
  }

  // The same where participants outnumber the cpus: a peer needs this cpu, so a waiter spins only
  // if its whole crew waits, and most rounds of ranks only yield.
  constexpr WaitPolicy outnumbered() const noexcept {
    WaitPolicy policy = *this;
    policy.spin_polls = 0;
    policy.spin_polls_alone = kPollsBeforeYield;
    policy.yields = kYieldsWhenOutnumbered;
    policy.polls_between_progress = 0;
    policy.rounds_per_progress = 8;
    return policy;
  }

  constexpr int polls(bool crew_waits) const noexcept {
    return crew_waits && spin_polls_alone > spin_polls ? spin_polls_alone : spin_polls;
  }
};

}  // namespace hierbar

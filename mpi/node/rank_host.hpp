// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/parking.hpp"
#include "barrier/real_mem.hpp"
#include "barrier/waiting.hpp"
#include "base/clock.hpp"
#include "base/membarrier.hpp"
#include "mpi/node/barrier_block.hpp"
#include "mpi/node/wait_evidence.hpp"

namespace hierbar::mpi {

// How the ranks of one communicator wait. A round is: progress, polls, then a yield or a sleep.
struct Waiting : WaitPolicy {
  Waiting() noexcept : WaitPolicy(of_ranks()) {}

  // No other rank needs this one's cpu. It keeps it where peers may access its memory.
  bool has_own_cpu = true;
  // Time after which on_overdue is called, and then again after every such time. 0: never.
  long watch_ns = 0;

  static Waiting outnumbered() noexcept {
    Waiting waiting;
    static_cast<WaitPolicy&>(waiting) = of_ranks().outnumbered();
    waiting.has_own_cpu = false;
    return waiting;
  }
  // The same communicator's way of waiting, once ranks outnumber the cpus.
  Waiting when_outnumbered() const noexcept {
    Waiting waiting = outnumbered();
    waiting.pauses_per_poll = pauses_per_poll;
    waiting.yields_together = yields_together;
    waiting.watch_ns = watch_ns;
    return waiting;
  }
};

// What a waiting rank does meanwhile. Both functions are given `context`.
struct WaitDuties {
  // Makes the MPI library progress. A peer may be inside a message or a remote access, and may come
  // to the barrier only after this rank's part in it. Returns whether peers may access this rank's
  // memory at any time, so that each access may need the progress of this rank.
  bool (*poke)(void* context) noexcept;
  void (*on_overdue)(void* context, long waited_ns) noexcept;
  void* context;
};

// How a rank waits in one barrier. It lives for that barrier only. Every rank that waits makes
// progress, whether it leads or not. The steps of a wait:
//
// 1. The barrier spins for spin_polls() polls.
// 2. Rounds: progress, polls, a yield.
// 3. Rounds: progress, polls, a short sleep on a futex. The awaited rank ends the sleep. If peers
//    use this rank's library, rounds of step 2 follow (docs/design/mpi-calls.md#d0154).
//
// If peers may access the rank's memory, and it has a cpu of its own, its rounds neither yield nor
// sleep (docs/design/mpi-calls.md#d0178).
//
// Ranks that outnumber the cpus all await one release. They soon sleep, in one place. If peers may
// access the memory of one, its sleeps stay short.
class RankHost {
 public:
  RankHost(const BarrierBlock& block, std::uint32_t me, const Waiting& waiting,
           const WaitDuties& duties) noexcept
      : block_(block), me_(me), waiting_(waiting), duties_(duties) {}

  int spin_polls(bool crew_waits) const noexcept { return waiting_.polls(crew_waits); }
  int pauses_per_poll() const noexcept { return waiting_.pauses_per_poll; }
  bool can_sleep() const noexcept { return true; }

  // Returns only when released. If a rank has died, MPI's own launcher ends the program.
  [[gnu::noinline]] WaitResult wait(AwaitedWord<RealMem<RankHost>>& pending) noexcept {
    if (!block_.is_oversubscribed()) return wait_as(waiting_, pending);
    return wait_as(waiting_.when_outnumbered(), pending);
  }

  void wake(std::uint32_t participant) noexcept { unpark(block_.host_line(participant).parked); }
  bool heavy_fence() noexcept { return fence_processes(block_.segment().fences()); }
  void wake_all() noexcept { unpark_all(block_.host_line(0).num_wakings); }

 private:
  WaitResult wait_as(const Waiting& waiting, AwaitedWord<RealMem<RankHost>>& pending) noexcept {
    if (!pending.all_wait()) {
      wait_until_ready(waiting, pending, waiting.yields);
      pending.retract();
      return WaitResult::kReleased;
    }
    YieldHistory& history = block_.host_line(me_).yield_history;
    const int yields = history.begin_wait(waiting.yields_together);
    const bool slept = wait_until_ready(waiting, pending, yields);
    if (yields > 0) history.end_wait(slept);
    return WaitResult::kReleased;
  }

  // Returns whether the rank slept. A long wait consists of many short sleeps. They have one
  // announcement in common, which the caller withdraws: each one may interrupt all ranks.
  bool wait_until_ready(const Waiting& waiting, AwaitedWord<RealMem<RankHost>>& pending,
                        int yields) noexcept {
    long sleep_ns = waiting.first_sleep_ns;
    const std::int64_t start_ns = waiting.watch_ns > 0 ? monotonic_ns() : 0;
    std::int64_t next_watch_ns = start_ns + waiting.watch_ns;
    bool slept = false;
    bool is_accessible = false;
    PeerActivity activity;
    for (long round = 0;; ++round) {
      const bool may_sleep = round >= yields;
      if (may_sleep || round % waiting.rounds_per_progress == waiting.rounds_per_progress - 1) {
        is_accessible = duties_.poke(duties_.context);
      }
      if (poll_for_a_while(waiting, pending)) return slept;
      if (is_accessible && waiting.has_own_cpu) {
        // The next access comes at any time. To a process that computes a yield gives a time slice.
      } else if (!may_sleep) {
        sched_yield();
      } else if (yields > 0 && activity.found_by([&] { duties_.poke(duties_.context); })) {
        round = 0;  // whoever is to sleep at once has no rounds to go back to
        sleep_ns = waiting.first_sleep_ns;
      } else {
        sleep(pending, sleep_ns);
        slept = true;
        sleep_ns = is_accessible ? waiting.first_sleep_ns
                                 : std::min(2 * sleep_ns, waiting.longest_sleep_ns);
      }
      if (pending.ready()) return slept;
      if (waiting.watch_ns > 0 && monotonic_ns() >= next_watch_ns) {
        duties_.on_overdue(duties_.context, static_cast<long>(monotonic_ns() - start_ns));
        next_watch_ns += waiting.watch_ns;
      }
    }
  }

  void sleep(AwaitedWord<RealMem<RankHost>>& pending, long limit_ns) noexcept {
    if (pending.all_wait())
      return park_together(block_.host_line(0).num_wakings, pending, limit_ns);
    park_announced(block_.host_line(me_).parked, pending, limit_ns, [] { return false; });
  }

  // Unlike a spin it polls after each pause. Who is still awaited now will write once, and not need
  // the line again soon after (docs/design/waiting.md#d0158).
  static bool poll_for_a_while(const Waiting& waiting,
                               AwaitedWord<RealMem<RankHost>>& pending) noexcept {
    if (pending.ready()) return true;
    for (int pauses = waiting.polls_between_progress * waiting.pauses_per_poll; pauses > 0;
         --pauses) {
      cpu_pause();
      if (pending.ready()) return true;
    }
    return false;
  }

  const BarrierBlock& block_;
  std::uint32_t me_;
  const Waiting& waiting_;
  const WaitDuties& duties_;
};

using RankMem = RealMem<RankHost>;
using RankBarrier = Barrier<RankMem>;

}  // namespace hierbar::mpi

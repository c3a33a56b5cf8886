// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "barrier/awaited_word.hpp"
#include "barrier/parking.hpp"
#include "barrier/real_mem.hpp"
#include "barrier/waiting.hpp"
#include "base/membarrier.hpp"

namespace hierbar {

// Not 0: every wait ends with kAborted. Of fixed width, because it may be in shared memory.
using AbortFlag = std::atomic<std::uint32_t>;

// The futex word of one participant, on a line of its own.
struct ParkingSpot {
  alignas(128) std::atomic<std::uint32_t> parked{0};
};
static_assert(sizeof(ParkingSpot) == 128, "in shared memory");

// The waiting of plain threads: poll, yield, sleep on a futex, which several processes may share.
// It is the host of the tests, the benchmarks and the C API.
//
// Ordering of `aborted`. A participant that aborts sets it (X1) and then wakes all others (P3,
// parking.hpp). The C API does so in runtime/api/episode.hpp.
//   (X1) seq_cst store, before (P3).
//   (X2) acquire load; pairs with (X1). A participant that gives up sees what was written before
//        the abort.
//   (X3) seq_cst load, after (P1) and before the sleep. Either (X3) sees (X1), or (P3) sees (P1)
//        and ends the sleep.
class ThreadHost {
 public:
  // `spots` has one element for each participant; `me` is the caller's index. Spots, policy and
  // flag must outlive the host.
  ThreadHost(ParkingSpot* spots, std::uint32_t me, const WaitPolicy& policy,
             const AbortFlag& aborted) noexcept
      : spots_(spots), me_(me), policy_(policy), aborted_(aborted) {}

  int spin_polls(bool crew_waits) const noexcept { return policy_.polls(crew_waits); }
  int pauses_per_poll() const noexcept { return policy_.pauses_per_poll; }
  bool can_sleep() const noexcept { return policy_.sleeps; }

  WaitResult wait(AwaitedWord<RealMem<ThreadHost>>& pending) noexcept {
    const bool sleeps = policy_.sleeps && policy_.longest_sleep_ns > 0;
    for (int yields = 0; !pending.ready();) {
      // (X2) pairs with (X1).
      if (aborted_.load(std::memory_order_acquire) != 0) return WaitResult::kAborted;  // (X2)
      if (policy_.progress != nullptr && policy_.progress(policy_.progress_context) != 0)
        return WaitResult::kAborted;
      if (sleeps && yields >= policy_.yields) {
        sleep(pending);
      } else {
        sched_yield();
        if (sleeps) ++yields;
      }
    }
    return WaitResult::kReleased;
  }

  void wake(std::uint32_t participant) noexcept { unpark(spots_[participant].parked); }
  // For barriers whose participants are threads of one process.
  bool heavy_fence() noexcept { return fence_threads(); }

 private:
  void sleep(AwaitedWord<RealMem<ThreadHost>>& pending) noexcept {
    // (X3) pairs with (X1).
    const auto gives_up = [this] { return aborted_.load(std::memory_order_seq_cst) != 0; };  // (X3)
    park(spots_[me_].parked, pending, policy_.longest_sleep_ns, gives_up);
  }

  ParkingSpot* spots_;
  std::uint32_t me_;
  const WaitPolicy& policy_;
  const AbortFlag& aborted_;
};

}  // namespace hierbar

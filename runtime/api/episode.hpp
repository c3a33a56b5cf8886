// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

#include "api/handle.hpp"
#include "barrier/thread_host.hpp"
#include "hierbar/hierbar.h"

namespace hierbar {

// What the calls of all kinds of episodes share, and the end of all of them. Here and not in
// crossing.cpp, because the calls of collectives are compiled apart: the code of a barrier must not
// depend on them.

inline bool is_participant(const hierbar_barrier* barrier, std::uint32_t participant) noexcept {
  return barrier != nullptr && participant < barrier->plan.num_participants;
}

// Sets the flag, then wakes the sleepers. A sleeper announces itself, then reads the flag. (X1) to
// (X3) are described at ThreadHost. To write to the line of every participant is slow, but it
// happens only once.
[[gnu::cold, gnu::noinline]] inline void abort_all(hierbar_barrier& barrier) noexcept {
  barrier.aborted.store(1, std::memory_order_seq_cst);  // (X1) pairs with (X2), (X3)
  ThreadHost host(barrier.spots, 0, barrier.policy, barrier.aborted);
  for (std::uint32_t p = 0; p < barrier.plan.num_participants; ++p) host.wake(p);
}

// Runs phase(mem) -> WaitResult for one participant.
template <class Phase>
hierbar_status run_episode(hierbar_barrier& barrier, std::uint32_t participant,
                           Phase&& phase) noexcept {
  // (X2) pairs with (X1).
  if (barrier.aborted.load(std::memory_order_acquire) != 0) return HIERBAR_ABORTED;  // (X2)
  ThreadHost host(barrier.spots, participant, barrier.policy, barrier.aborted);
  ApiMem mem(host);
  if (phase(mem) == WaitResult::kReleased) return HIERBAR_OK;
  abort_all(barrier);  // the cause may be this participant's own callback
  return HIERBAR_ABORTED;
}

}  // namespace hierbar

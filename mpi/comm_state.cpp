// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/comm_state.hpp"

#include "mpi/cross_with.hpp"

namespace hierbar::mpi {

int cross(CommState& state, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  NoTrace trace;
  return cross_with(state, pmpi, comm, trace);
}

void States::add(CommState* state) {
  const std::lock_guard lock(mutex_);
  states_.insert(state);
}

void States::remove(CommState* state) {
  num_removals_.fetch_add(1, std::memory_order_release);  // (S2) pairs with (S1)
  const std::lock_guard lock(mutex_);
  if (states_.erase(state) == 0) return;
  removed_[static_cast<std::size_t>(state->way)] += state->num_barriers.load(std::memory_order_relaxed);
}

Counts States::counts() {
  const std::lock_guard lock(mutex_);
  Counts counts = removed_;
  for (const CommState* state : states_) {
    counts[static_cast<std::size_t>(state->way)] += state->num_barriers.load(std::memory_order_relaxed);
  }
  for (std::size_t way = 0; way < kNumWays; ++way) counts[way] += loose_[way].load(std::memory_order_relaxed);
  return counts;
}

}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/comm_state.hpp"

#include "mpi/progress.hpp"
#include "mpi/watch.hpp"

namespace hierbar::mpi {
namespace {

constexpr std::uint32_t kMeetingFailed = 1;  // payload bit: the leaders' barrier returned an error

int cross_nodes(CommState& state, const Pmpi& pmpi, MPI_Comm comm, const Errands& errands) noexcept {
  int status = MPI_SUCCESS;
  const auto meet = [&]() noexcept {
    status = pmpi.Barrier(state.leaders->comm);
    return status == MPI_SUCCESS ? 0 : kMeetingFailed;
  };
  if (state.node == nullptr) {
    meet();
    return status;
  }
  const std::uint32_t bits = state.node->cross_around(state.waiting, errands, meet);
  if (bits == 0 || status != MPI_SUCCESS) return status;
  pmpi.Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

}  // namespace

int cross(CommState& state, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  state.num_barriers.store(state.num_barriers.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (state.way != Way::kEngine) return pmpi.Barrier(comm);
  Overdue overdue{&pmpi, comm, &state};
  const Errands errands{&make_progress, &tell_overdue, &overdue};
  if (state.several_nodes) return cross_nodes(state, pmpi, comm, errands);
  state.node->cross(state.waiting, errands);
  return MPI_SUCCESS;
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

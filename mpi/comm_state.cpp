// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/comm_state.hpp"

#include "mpi/progress.hpp"
#include "mpi/watch.hpp"

namespace hierbar::mpi {
namespace {

constexpr std::uint32_t kMeetingFailed = 1;  // payload bit: the leaders' barrier returned an error

template <class Trace>
int cross_nodes(CommState& state, const Pmpi& pmpi, MPI_Comm comm, const Errands& errands, Trace& trace) noexcept {
  int status = MPI_SUCCESS;
  const auto meet = [&]() noexcept {
    status = pmpi.Barrier(state.leaders->comm);
    return status == MPI_SUCCESS ? 0 : kMeetingFailed;
  };
  if (state.node == nullptr) {
    trace.arrived();
    meet();
    trace.released();
    return status;
  }
  const std::uint32_t bits = state.node->cross_around(state.waiting, errands, meet, trace);
  if (bits == 0 || status != MPI_SUCCESS) return status;
  pmpi.Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

template <class Trace>
[[gnu::always_inline]] inline int cross_with(CommState& state, const Pmpi& pmpi, MPI_Comm comm, Trace& trace) noexcept {
  state.num_barriers.store(state.num_barriers.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (state.way != Way::kEngine) return pmpi.Barrier(comm);
  Overdue overdue{&pmpi, comm, &state};
  const Errands errands{&make_progress, &tell_overdue, &overdue};
  if (state.several_nodes) return cross_nodes(state, pmpi, comm, errands, trace);
  state.node->cross(state.waiting, errands, trace);
  return MPI_SUCCESS;
}

}  // namespace

int cross(CommState& state, const Pmpi& pmpi, MPI_Comm comm) noexcept {
  NoTrace trace;
  return cross_with(state, pmpi, comm, trace);
}

int cross_recorded(CommState& state, const Pmpi& pmpi, MPI_Comm comm, const void* caller) noexcept {
  if (state.trace == nullptr || !state.trace->wants_next()) return cross(state, pmpi, comm);
  RankTrace trace = state.trace->open(caller);
  const int status = cross_with(state, pmpi, comm, trace);
  trace.left();
  if (state.trace->is_full()) state.trace->settle(pmpi, comm);
  return status;
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

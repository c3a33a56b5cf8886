// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/barrier/comm_state.hpp"

#include <algorithm>

#include "mpi/barrier/cross_with.hpp"

namespace hierbar::mpi {
namespace {

thread_local bool inside = false;

}  // namespace

InsideGuard::InsideGuard() noexcept : was_inside_(inside) { inside = true; }
InsideGuard::~InsideGuard() { inside = was_inside_; }
bool InsideGuard::is_held() noexcept { return inside; }

int cross(CommState& state, const Pmpi& pmpi, MPI_Comm comm) {
  NoTrace trace;
  return cross_with(state, pmpi, comm, trace);
}

// A free of MPI_COMM_WORLD is an error that one rank may make alone.
void settle_trace(const CommState& state, const Pmpi& pmpi, MPI_Comm comm) {
  if (state.trace != nullptr && !state.trace->is_empty() && comm != pmpi.comm_world)
    state.trace->settle(pmpi, comm);
}

void States::add(CommState* state) {
  const std::lock_guard lock(mutex_);
  states_.insert(state);
}

void States::remove(CommState* state) {
  num_removals_.fetch_add(1, std::memory_order_release);  // (S2) pairs with (S1)
  const std::lock_guard lock(mutex_);
  if (states_.erase(state) == 0) return;
  by_handle_.erase(std::remove_if(by_handle_.begin(), by_handle_.end(),
                                  [&](const auto& loose) { return loose.second == state; }),
                   by_handle_.end());
  has_loose_.store(!by_handle_.empty(), std::memory_order_relaxed);
  removed_[static_cast<std::size_t>(state->route)] +=
      state->num_barriers.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < kNumDataCalls; ++i)
    removed_data_calls_[i] += state->num_data_calls[i].load(std::memory_order_relaxed);
}

void States::add_loose(MPI_Comm comm, CommState* state) {
  const std::lock_guard lock(mutex_);
  by_handle_.emplace_back(comm, state);
  has_loose_.store(true, std::memory_order_relaxed);
}

CommState* States::take_loose(MPI_Comm comm) {
  if (!has_loose_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(by_handle_.begin(), by_handle_.end(),
                                  [&](const auto& loose) { return loose.first == comm; });
  if (found == by_handle_.end()) return nullptr;
  CommState* const state = found->second;
  by_handle_.erase(found);
  has_loose_.store(!by_handle_.empty(), std::memory_order_relaxed);
  return state;
}

void States::forget_loose() {
  const std::lock_guard lock(mutex_);
  by_handle_.clear();
  has_loose_.store(false, std::memory_order_relaxed);
}

bool States::mark_oversubscribed() {
  if (is_oversubscribed_.exchange(true, std::memory_order_relaxed)) return false;
  bool is_rank_0 = false;
  // With the lock, a state stays here, and keeps its block, until it is removed.
  const std::lock_guard lock(mutex_);
  for (const CommState* state : states_) {
    if (state->node == nullptr) continue;
    state->node->block().mark_oversubscribed();
    is_rank_0 = is_rank_0 || state->node->peers()[state->node->me()].comm_rank == 0;
  }
  return is_rank_0;
}

Counts States::counts() {
  const std::lock_guard lock(mutex_);
  Counts counts = removed_;
  for (const CommState* state : states_) {
    counts[static_cast<std::size_t>(state->route)] +=
        state->num_barriers.load(std::memory_order_relaxed);
  }
  for (std::size_t route = 0; route < kNumRoutes; ++route)
    counts[route] += loose_[route].load(std::memory_order_relaxed);
  return counts;
}

void States::count_data(DataCall call, bool is_served, std::uint64_t number) {
  if (!is_served) {
    passed_data_calls_[index_of(call)].fetch_add(number, std::memory_order_relaxed);
    return;
  }
  const std::lock_guard lock(mutex_);
  removed_data_calls_[index_of(call)] += number;
}

DataCounts States::data_counts() {
  const std::lock_guard lock(mutex_);
  DataCounts counts;
  for (std::size_t i = 0; i < kNumDataCalls; ++i) {
    counts[i] = {removed_data_calls_[i], passed_data_calls_[i].load(std::memory_order_relaxed)};
    for (const CommState* state : states_)
      counts[i].served += state->num_data_calls[i].load(std::memory_order_relaxed);
  }
  return counts;
}

}  // namespace hierbar::mpi

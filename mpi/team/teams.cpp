// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/team/teams.hpp"

#include <algorithm>
#include <utility>

#include "mpi/barrier/process_state.hpp"
#include "mpi/team/threadcomm.hpp"

namespace hierbar::mpi {

constinit TeamsForever all_teams;

bool Teams::is_full() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(places_.begin(), places_.end(),
                     [](const Place& place) { return place.team != nullptr; });
}

Teams::Handle Teams::add(std::unique_ptr<HybridTeam> team) {
  const std::lock_guard lock(mutex_);
  const auto place = std::find_if(places_.begin(), places_.end(),
                                  [](const Place& one) { return one.team == nullptr; });
  const Handle handle = ++place->num_uses * kMost + static_cast<Handle>(place - places_.begin());
  num_teams_.fetch_add(1, std::memory_order_relaxed);
  place->team = std::move(team);
  place->handle.store(handle, std::memory_order_release);  // (H2) pairs with (H1)
  return handle;
}

std::unique_ptr<HybridTeam> Teams::remove(Handle handle) {
  const std::lock_guard lock(mutex_);
  Place& place = places_[handle % kMost];
  place.handle.store(0, std::memory_order_relaxed);
  num_teams_.fetch_sub(1, std::memory_order_relaxed);
  return std::move(place.team);
}

void Teams::lose_comm(MPI_Comm comm) {
  if (num_teams_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  for (const Place& place : places_) {
    if (place.team != nullptr && place.team->comm() == comm) place.team->lose_comm();
  }
}

void Teams::end_all(States& states) {
  const std::lock_guard lock(mutex_);
  for (Place& place : places_) {
    place.handle.store(0, std::memory_order_relaxed);
    if (place.team == nullptr) continue;
    place.team->count_calls(states);
    // A thread that is still in a barrier keeps what it uses.
    if (place.team->is_in_use()) static_cast<void>(place.team.release());
    place.team.reset();
    num_teams_.store(0, std::memory_order_relaxed);
  }
}

namespace {

// The library may refuse: because of the communicator, or because a user's delete callback fails,
// and that in one rank only. So nothing of the state goes before the communicator is gone
// (docs/design/mpi-calls.md#d0037).
int free_with_state(const Pmpi& pmpi, MPI_Comm* comm, CommState* state, int (*free)(MPI_Comm*)) {
  ProcessState& process = ProcessState::get();
  const MPI_Comm freed = *comm;
  settle_trace(*state, pmpi, freed);
  process.set_aside(pmpi, freed, *state);
  const int status = free(comm);
  if (status == MPI_SUCCESS || *comm == pmpi.comm_null) {
    process.forget(pmpi, state);
  } else {
    process.put_back(pmpi, freed, *state);
  }
  return status;
}

}  // namespace

int free_comm(const Pmpi& pmpi, MPI_Comm* comm, int (*free)(MPI_Comm*)) {
  if (comm == nullptr || *comm == pmpi.comm_null) return free(comm);
  const MPI_Comm freed = *comm;
  Teams::get().lose_comm(freed);
  CommState* state = nullptr;
  const int found = ProcessState::get().find(pmpi, freed, state);
  // The library has called an error handler.
  if (found != MPI_SUCCESS && is_error_of_comm(pmpi, found)) return found;
  const int status = state != nullptr ? free_with_state(pmpi, comm, state, free) : free(comm);
  // This thread's only; the others free the same communicator of threads.
  if (status == MPI_SUCCESS) leave_seat(freed);
  return status;
}

}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/team/teams.hpp"

#include <algorithm>
#include <utility>

namespace hierbar::mpi {

constinit TeamsForever all_teams;

bool Teams::is_full() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(places_.begin(), places_.end(), [](const Place& place) { return place.team != nullptr; });
}

Teams::Handle Teams::add(std::unique_ptr<HybridTeam> team) {
  const std::lock_guard lock(mutex_);
  const auto place = std::find_if(places_.begin(), places_.end(), [](const Place& one) { return one.team == nullptr; });
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
    states.count(place.team->route(), place.team->num_barriers());
    // A thread that is still in a barrier keeps what it uses.
    if (place.team->is_in_use()) static_cast<void>(place.team.release());
    place.team.reset();
    num_teams_.store(0, std::memory_order_relaxed);
  }
}

}  // namespace hierbar::mpi

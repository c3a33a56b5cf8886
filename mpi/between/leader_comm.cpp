// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/leader_comm.hpp"

#include <algorithm>
#include <utility>

namespace hierbar::mpi {

std::shared_ptr<LeaderComm> LeaderComms::find(const std::vector<std::uint64_t>& processes) {
  const std::lock_guard lock(mutex_);
  for (const std::weak_ptr<LeaderComm>& known : known_) {
    if (std::shared_ptr<LeaderComm> leaders = known.lock(); leaders && leaders->processes == processes) return leaders;
  }
  return nullptr;
}

std::shared_ptr<LeaderComm> LeaderComms::add(LeaderComm leaders) {
  const std::lock_guard lock(mutex_);
  auto added = std::make_shared<LeaderComm>(std::move(leaders));
  known_.push_back(added);
  return added;
}

void LeaderComms::release(const Pmpi& pmpi, std::shared_ptr<LeaderComm> leaders) {
  if (leaders == nullptr) return;
  const std::weak_ptr<LeaderComm> watched = leaders;
  MPI_Comm comm = leaders->comm;
  {
    const std::lock_guard lock(mutex_);
    leaders.reset();
    if (!watched.expired()) return;
    known_.erase(std::remove_if(known_.begin(), known_.end(), [](const auto& known) { return known.expired(); }), known_.end());
  }
  pmpi.Comm_free(&comm);
}

void LeaderComms::keep(std::shared_ptr<LeaderComm> leaders) {
  const std::lock_guard lock(mutex_);
  unused_.push_back(std::move(leaders));
}

void LeaderComms::free_all(const Pmpi& pmpi) {
  std::vector<MPI_Comm> comms;
  {
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<LeaderComm>& known : known_) {
      if (const std::shared_ptr<LeaderComm> leaders = known.lock()) comms.push_back(leaders->comm);
    }
    known_.clear();
    unused_.clear();
  }
  for (MPI_Comm& comm : comms) pmpi.Comm_free(&comm);
}

}  // namespace hierbar::mpi

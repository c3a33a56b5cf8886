// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/between/leader_comm.hpp"

#include <algorithm>
#include <utility>

namespace hierbar::mpi {

LeaderComms::Known LeaderComms::find(const std::vector<std::uint64_t>& processes, Sharing sharing) {
  const std::lock_guard lock(mutex_);
  Known known;
  known_.erase(
      std::remove_if(known_.begin(), known_.end(), [](const auto& comm) { return comm.expired(); }),
      known_.end());
  known.has_room = known_.size() < kMost;
  if (sharing == Sharing::kNone) return known;
  for (const std::weak_ptr<LeaderComm>& one : known_) {
    std::shared_ptr<LeaderComm> leaders = one.lock();
    if (leaders == nullptr || leaders->is_forgotten || leaders->processes != processes) continue;
    if (known.comms.size() == kMostOfSame) break;
    known.has_collectives.push_back(sharing == Sharing::kByCollectives ||
                                    leaders->num_of_collectives == 0);
    known.comms.push_back(std::move(leaders));
  }
  return known;
}

// 1. One whose collectives nobody uses.
// 2. A new one, while the same leaders have few.
// 3. A tag of the one that has given away the fewest.
LeaderChoice LeaderComms::choose(const Known& known, Sharing sharing) {
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<LeaderComm>& leaders : known.comms) {
    if (sharing == Sharing::kByTags && leaders->num_of_collectives != 0) continue;
    ++leaders->num_of_collectives;
    return {leaders->id, 0};
  }
  if (known.comms.size() < kMostOfSame && known.has_room) return {};
  const auto least = std::min_element(
      known.comms.begin(), known.comms.end(),
      [](const auto& one, const auto& other) { return one->last_tag < other->last_tag; });
  if (least == known.comms.end() || (*least)->last_tag == kMostTags) return {};
  return {(*least)->id, ++(*least)->last_tag};
}

void LeaderComms::give_back(LeaderComm& leaders, const LeaderChoice& choice) {
  const std::lock_guard lock(mutex_);
  if (choice.tag == 0) --leaders.num_of_collectives;
}

void LeaderComms::forget(LeaderComm& leaders) {
  const std::lock_guard lock(mutex_);
  leaders.is_forgotten = true;
}

std::shared_ptr<LeaderComm> LeaderComms::add(std::shared_ptr<LeaderComm> leaders) {
  const std::lock_guard lock(mutex_);
  known_.push_back(leaders);
  return leaders;
}

std::shared_ptr<LeaderShare> LeaderComms::share(std::shared_ptr<LeaderComm> leaders,
                                                std::optional<Meeting> by_messages, bool is_taken) {
  const std::lock_guard lock(mutex_);
  if (!by_messages && !is_taken) ++leaders->num_of_collectives;
  kept_.erase(std::remove(kept_.begin(), kept_.end(), leaders), kept_.end());
  return std::make_shared<LeaderShare>(LeaderShare{std::move(leaders), std::move(by_messages)});
}

std::shared_ptr<LeaderComm> LeaderComms::end(std::shared_ptr<LeaderShare> share) {
  if (share == nullptr) return nullptr;
  std::shared_ptr<LeaderComm> leaders = share->leaders;
  const bool has_collectives = !share->by_messages;
  const std::weak_ptr<LeaderShare> watched = share;
  share.reset();
  if (!watched.expired()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (has_collectives) --leaders->num_of_collectives;
  return leaders;
}

void LeaderComms::release(const Pmpi& pmpi, std::shared_ptr<LeaderShare> share) {
  release(pmpi, end(std::move(share)));
}

void LeaderComms::release(const Pmpi& pmpi, std::shared_ptr<LeaderComm> leaders) {
  if (leaders == nullptr) return;
  const std::weak_ptr<LeaderComm> watched = leaders;
  MPI_Comm comm = leaders->comm;
  {
    const std::lock_guard lock(mutex_);
    leaders.reset();
    if (!watched.expired()) return;
  }
  if (comm != pmpi.comm_null) pmpi.Comm_free(&comm);
}

void LeaderComms::keep(std::shared_ptr<LeaderShare> share) {
  std::shared_ptr<LeaderComm> leaders = end(std::move(share));
  const std::lock_guard lock(mutex_);
  if (leaders != nullptr && std::find(kept_.begin(), kept_.end(), leaders) == kept_.end())
    kept_.push_back(std::move(leaders));
}

void LeaderComms::free_kept(const Pmpi& pmpi, std::size_t num_left) {
  std::vector<std::shared_ptr<LeaderComm>> freed;
  {
    const std::lock_guard lock(mutex_);
    for (auto one = kept_.begin(); one != kept_.end() && kept_.size() > num_left;) {
      freed.push_back(std::move(*one));
      one = kept_.erase(one);
    }
  }
  for (std::shared_ptr<LeaderComm>& leaders : freed) release(pmpi, std::move(leaders));
}

void LeaderComms::free_all(const Pmpi& pmpi) {
  std::vector<MPI_Comm> comms;
  {
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<LeaderComm>& known : known_) {
      // Who still has it must not free it once more.
      if (const std::shared_ptr<LeaderComm> leaders = known.lock())
        comms.push_back(std::exchange(leaders->comm, pmpi.comm_null));
    }
    known_.clear();
    kept_.clear();
  }
  for (MPI_Comm& comm : comms) pmpi.Comm_free(&comm);
}

}  // namespace hierbar::mpi

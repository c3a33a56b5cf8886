// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "base/process.hpp"
#include "mpi/node/segment.hpp"

namespace hierbar::mpi {

// What each rank of a communicator sends to all others at the start of the set-up. It is sent as
// plain bytes: all ranks run the same build of the shim, on one kind of machine.
struct RankInfo {
  static constexpr std::uint32_t kWantsEngine = 1;
  static constexpr std::uint32_t kVerbose = 2;
  // Two threads of the process are never in barriers at the same time: there is no
  // MPI_THREAD_MULTIPLE.
  static constexpr std::uint32_t kHasOneBarrier = 4;
  // A communicator can be made for the leaders. Open MPI may hang where several threads make
  // communicators, so there only the main thread does (docs/design/mpi-setup.md#d0155).
  static constexpr std::uint32_t kMayMakeLeaders = 8;
  // All communicators are of MPI_COMM_WORLD.
  static constexpr std::uint32_t kHasNoSessions = 16;
  // can_fence_ranks().
  static constexpr std::uint32_t kCanFence = 32;
  // HIERBAR_MPI is `collectives`.
  static constexpr std::uint32_t kWantsCollectives = 64;
  // The MPI library takes memory of a device as a buffer. A rank may do so where others do not, and
  // the engine's copies would fail.
  static constexpr std::uint32_t kTakesDeviceMemory = 128;

  struct Joined {
    std::uint64_t segment_id;  // 0: none
    std::uint32_t index;
    std::uint32_t reserved;
  };

  NodeKey node;
  std::uint64_t process_id;
  std::uint32_t flags;
  // Of this many barriers one is to be recorded. 0: none.
  std::uint32_t report_every;
  // MeetingSetting::code(). Rank 0's counts.
  std::uint64_t meeting;
  // An Algorithm. Rank 0's counts.
  std::uint64_t algorithm;
  Joined joined[Memberships::kKept];  // newest first
};

// Which ranks of a communicator are on which node. Every rank computes the same map, because all
// have the same records.
class NodeMap {
 public:
  using Ranks = std::vector<int>;  // ascending

  explicit NodeMap(const std::vector<RankInfo>& records);

  // The nodes, ordered by their lowest rank.
  const std::vector<Ranks>& nodes() const { return nodes_; }
  const Ranks& node_of(int rank) const { return nodes_[node_of_[static_cast<std::size_t>(rank)]]; }

 private:
  std::vector<Ranks> nodes_;
  std::vector<std::size_t> node_of_;
};

// The id of a segment that all of these ranks have joined: the newest one of the first rank's. 0
// when there is none.
std::uint64_t common_segment(const std::vector<RankInfo>& records, const NodeMap::Ranks& ranks);
// Whether on some node the ranks have no segment in common. A node with one rank needs none.
bool lacks_segment(const std::vector<RankInfo>& records, const NodeMap& map);
// Which member of that segment the rank is. The rank must have joined it.
std::uint32_t member_index(const RankInfo& record, std::uint64_t segment_id);

// True when all records have the flag.
bool all_have(const std::vector<RankInfo>& records, std::uint32_t flag);

}  // namespace hierbar::mpi

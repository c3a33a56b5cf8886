// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/barrier/agreement.hpp"
#include "mpi/barrier/rank_info.hpp"
#include "mpi/node/segment.hpp"

namespace hierbar::mpi {

// The ranks of a communicator on this rank's node.
struct NodePart {
  NodeMap::Ranks ranks;
  // The position of this rank in `ranks`. 0 is the leader.
  std::uint32_t me = 0;
  // Null for a rank that is alone on its node.
  std::shared_ptr<NodeSegment> segment;
  // Which member of the segment each rank is, by position.
  std::vector<std::uint32_t> members;
  // The segment has been made for this communicator.
  bool is_new = false;

  NodePart(const NodeMap& map, int rank);
  bool leads() const { return me == 0; }
  bool is_alone() const { return ranks.size() == 1; }
  // The leader's element of `all`, which has one for each rank of the communicator.
  template <class T>
  const T& from_leader(const std::vector<T>& all) const {
    return all[static_cast<std::size_t>(ranks.front())];
  }
};

// What a new segment for so many ranks has for its units: enough for about a thousand communicators
// of all of them, and with HIERBAR_MPI=collectives for as many with collectives as a process may
// have. A page is allocated only when it is used.
std::size_t segment_bytes(const ShimSettings& settings, std::size_t num_ranks);

// Gives each node's part a segment that all of its ranks have joined. It is a segment of `joined`
// if there is such a one, or else a new one. `joined` must be what this rank's record lists. The
// name of a new segment is removed before this returns. Collective; returns what agree() does.
//
// `full` has the lowest ranks of nodes whose segment has no room. These get a new one.
Route share_segment(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
                    const std::vector<Membership>& joined, const std::vector<int>& full,
                    NodePart& part);

}  // namespace hierbar::mpi

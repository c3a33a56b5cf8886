// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/memberships.hpp"
#include "mpi/records.hpp"

namespace hierbar::mpi {

// The ranks of a communicator that are on this rank's node.
struct NodePart {
  NodeMap::Ranks ranks;
  std::uint32_t me = 0;                // position of this rank in `ranks`; 0 is the leader
  std::shared_ptr<Segment> segment;    // null for a rank that is alone
  std::vector<std::uint32_t> members;  // by position: which member of the segment

  NodePart(const NodeMap& map, int rank);
  bool leads() const { return me == 0; }
  bool is_alone() const { return ranks.size() == 1; }
  // The leader's, of what all ranks of the communicator have told.
  template <class T>
  const T& from_leader(const std::vector<T>& all) const {
    return all[static_cast<std::size_t>(ranks.front())];
  }
};

// Gives every node's part a segment that all of its ranks have joined: one that they have already, of those in `joined`, which
// are the ones in this rank's record; or a new one, whose name is gone when this returns. Collective; returns what agree() does.
Way share_segment(Agreement& agreement, const std::vector<Record>& records, const NodeMap& map,
                  const std::vector<Membership>& joined, NodePart& part);

}  // namespace hierbar::mpi

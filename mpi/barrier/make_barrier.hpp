// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "mpi/barrier/agreement.hpp"
#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/rank_info.hpp"
#include "mpi/barrier/share_segment.hpp"

namespace hierbar::mpi {

// Makes the barrier of this rank's node, and the leaders' communicator if there are several nodes.
// `part` must have its segment. Collective; returns what agree() does. If it fails, `state` is
// unchanged.
//
// If segments of earlier communicators have no room, the lowest ranks of their nodes are added to
// `full`, in all ranks alike, and it fails without a message.
Route make_barrier(Agreement& agreement, const std::vector<RankInfo>& records, const NodeMap& map,
                   const NodePart& part, CommState& state, std::vector<int>& full);

}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/comm_state.hpp"
#include "mpi/records.hpp"
#include "mpi/share_segment.hpp"

namespace hierbar::mpi {

// Makes the barrier of this rank's node, and the leaders' communicator when there are several nodes. `part` has its segment.
// Collective; returns what agree() does. On failure `state` is as before.
Way make_barrier(Agreement& agreement, const std::vector<Record>& records, const NodeMap& map, const NodePart& part,
                 CommState& state);

}  // namespace hierbar::mpi

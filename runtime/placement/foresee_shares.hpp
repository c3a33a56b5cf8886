// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "base/environment.hpp"
#include "placement/decide.hpp"
#include "placement/pool.hpp"
#include "placement/veto.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// A rank of the node as others see it before its first parallel region.
struct RankAhead {
  RankNeed need;
  Environment environment;
};

// What libomp is going to do in these ranks, all that a launcher started on the node, if the program runs it under
// KMP_BARRIER=hier; own_share.hpp is how the ranks themselves find it out. What a program does to its own binding or thread count
// is not foreseen. A rank without OMP_NUM_THREADS has the team of Decision::team_sizes. Without shares everybody stays where it
// is, for the reason given.
Decision foresee_shares(const Machine& machine, PoolEvidence evidence, const std::vector<RankAhead>& ranks);

}  // namespace hierbar

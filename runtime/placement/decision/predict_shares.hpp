// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "base/environment.hpp"
#include "placement/decision/decide.hpp"
#include "placement/evidence/cpu_pool.hpp"
#include "placement/evidence/veto.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// A rank of the node, as others see it before its first parallel region.
struct RankAhead {
  RankNeed need;
  Environment environment;
};

// Predicts what libomp will do in these ranks if the program runs it under KMP_BARRIER=hier. They
// must be all ranks that a launcher started on the node. The ranks themselves find it out by
// find_own_share().
//
// What a program does to its own binding or thread count is not predicted. A rank without
// OMP_NUM_THREADS has a team as large as Decision::team_sizes tells. If there are no shares,
// everybody stays where it is, and the decision gives the reason.
Decision predict_shares(const Machine& machine, PoolEvidence evidence, const std::vector<RankAhead>& ranks);

}  // namespace hierbar

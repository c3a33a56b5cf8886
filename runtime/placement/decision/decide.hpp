// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/variables.hpp"
#include "placement/evidence/cpu_pool.hpp"
#include "placement/evidence/veto.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// The code of a decision that gives shares.
inline constexpr const char* kPlaced = "placed";

// What all ranks of a node do: either each gets a share, or nobody does.
struct Decision {
  // By local rank. Empty: everybody keeps what it has.
  std::vector<CpuSet> shares;
  // A sentence without a full stop, for reports.
  std::string why;
  // The same as a word for scripts.
  const char* code = kPlaced;
  // By local rank: the size of a team that has as many threads as the share has cpus, or fewer if
  // the pool's capacity is less than its cpus.
  std::vector<std::uint32_t> team_sizes = {};
};

// Gives a number to ranks that leave their number of threads open: equal parts of what the others
// leave of the pool's capacity, and one thread at least (docs/design/placement.md#d0049).
std::vector<RankNeed> settled_needs(const CpuPool& pool, std::vector<RankNeed> ranks);

// Decides whether and how the ranks share out `pool`. It is a pure function, so ranks that know the
// same decide the same. Nobody gets a share if veto_by_need() or veto_by_pool() finds a reason.
// Otherwise share_out() cuts the pool, and assign_shares() leaves ranks on their own cpus where it
// can.
Decision decide(const Machine& machine, const CpuPool& pool, const std::vector<RankNeed>& ranks);

// The same when only one rank is known. All ranks are assumed to be like it, in the order of their
// numbers. The shares are disjoint, whichever ranks act on them.
Decision decide_for_equals(const Machine& machine, const CpuPool& pool, std::uint32_t num_threads,
                           std::uint32_t num_ranks);

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
Decision predict_shares(const Machine& machine, PoolEvidence evidence,
                        const std::vector<RankAhead>& ranks);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/pool.hpp"
#include "placement/veto.hpp"
#include "topology/machine.hpp"

namespace hierbar {

inline constexpr const char* kPlaced = "placed";  // the code of a decision that gives shares

// What all ranks of a node do: a share for each, or none for anybody.
struct Decision {
  std::vector<CpuSet> shares;  // by local rank; empty: everybody keeps what it has
  std::string why;             // a sentence without a full stop, for reports
  const char* code = kPlaced;  // the same as a word for scripts
  // By local rank: the threads of a team that are as many as the share has cpus, or as the pool's capacity leaves it.
  std::vector<std::uint32_t> team_sizes = {};
};

// What ranks that leave their number of threads open are counted as: equal parts of what the others leave of the pool's capacity,
// one thread at least.
std::vector<RankNeed> settled_needs(const Pool& pool, std::vector<RankNeed> ranks);

// Whether and how the ranks share out `pool`; a pure function, so that ranks that know the same decide the same. Nobody gets a
// share when veto_by_need() or veto_by_pool() speaks against it. Otherwise the pool is cut by share_out(), and assign_shares()
// leaves ranks on their own cpus where that can be.
Decision decide(const Machine& machine, const Pool& pool, const std::vector<RankNeed>& ranks);

// The same when only one rank is known: all are taken to be like it, in the order of their numbers. Shares from this are
// disjoint, whoever acts on them.
Decision decide_for_equals(const Machine& machine, const Pool& pool, std::uint32_t num_threads, std::uint32_t num_ranks);

}  // namespace hierbar

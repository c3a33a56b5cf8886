// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/quartiles.hpp"

namespace hierbar::network {

// Ranks over nodes: split[i] ranks on node i, in the order of the ranks.
using Split = std::vector<std::uint32_t>;

// Every split of `num_ranks` that a launcher makes by itself: for each number of ranks per node,
// nodes filled one after the other ("5+3"), and for each number of nodes, as even as possible
// ("3+3+2"). Each once, fewest nodes first, at most `most_per_node` ranks on a node and at most
// `most_nodes` nodes.
std::vector<Split> all_splits(std::uint32_t num_ranks, std::uint32_t most_nodes, std::uint32_t most_per_node);

// "2x4" if all nodes have as many, else "3+3+2"; runs of more than two as "2x5+3".
std::string describe(const Split& split);

// P3's order of subsystems, by time: the rank of each, from 1. Times that are inside each other's
// error share a rank: each one's median lies in the other's interval. The first of a rank decides
// who shares it, so that a chain of neighbours does not join the first and the last.
std::vector<std::uint32_t> rank_by_time(const std::vector<Quartiles>& times);

}  // namespace hierbar::network

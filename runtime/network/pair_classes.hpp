// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "network/network_profile.hpp"

namespace hierbar::network {

using NodePair = std::pair<std::uint32_t, std::uint32_t>;  // the first is the smaller one

// The pairs of which round trips are measured: all, if there are at most `most` of them; otherwise
// pairs at distances 1, 2, 4, ... in turn, so that every part of the machine is among them.
std::vector<NodePair> sample_pairs(std::uint32_t num_nodes, std::uint32_t most);

// Pairs that are equally far from each other.
struct Grouping {
  std::vector<std::string> names;      // of the classes, the nearest first
  std::vector<std::uint32_t> classes;  // of each pair
};

// Where a node is, as Slurm says: SLURM_TOPOLOGY_ADDR "s0.s4.node17" and its pattern
// "switch.switch.node". Both empty without Slurm.
struct NodeAddress {
  std::string address;
  std::string pattern;
};

// The classes of pairs. If the addresses have switches, by the switch that the two have in common:
// "same switch", "1 switch up", ..., "no common switch". Otherwise by round trips: where one is
// kClearlyFarther times the next shorter one, a class begins; they are called after their median.
// At most kMostPairClasses.
inline constexpr double kClearlyFarther = 1.5;
inline constexpr std::uint32_t kMostPairClasses = 6;
Grouping group_pairs(const std::vector<NodePair>& pairs, const std::vector<double>& round_trips_us,
                     const std::vector<NodeAddress>& addresses);

// The quartiles of a class. Requires that there is a measurement.
PairClass summarize(const std::string& name, std::uint32_t num_pairs, const std::vector<Parameters>& measurements);

}  // namespace hierbar::network

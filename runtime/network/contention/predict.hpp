// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/quartiles.hpp"
#include "base/result.hpp"
#include "network/contention/contention_table.hpp"
#include "network/contention/traffic.hpp"
#include "network/parameters.hpp"

namespace hierbar::network {

// Ranks over nodes: split[i] ranks on node i, in the order of the ranks.
using Split = std::vector<std::uint32_t>;

// Every split of `num_ranks` that a launcher makes by itself: for each number of ranks per node,
// nodes filled one after the other ("5+3"), and for each number of nodes, as even as possible
// ("3+3+2"). Each once, fewest nodes first, at most `most_per_node` ranks on a node and at most
// `most_nodes` nodes.
std::vector<Split> all_splits(std::uint32_t num_ranks, std::uint32_t most_nodes,
                              std::uint32_t most_per_node);

// "2x4" if all nodes have as many, else "3+3+2"; runs of more than two as "2x5+3".
std::string describe(const Split& split);

// P3's order of subsystems, by time: the rank of each, from 1. Times that are inside each other's
// error share a rank: each one's median lies in the other's interval. The first of a rank decides
// who shares it, so that a chain of neighbours does not join the first and the last.
std::vector<std::uint32_t> rank_by_time(const std::vector<Quartiles>& times);

// Where a rank is: its node and, inside it, the numbers of the units around it.
struct Spot {
  std::uint32_t node = 0;
  std::uint32_t package = 0;
  std::uint32_t numa = 0;
  std::uint32_t l3 = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

// One channel of the machine. Which: the node and the unit; for channels between units the pair of
// them, the lower one first; for the network the node alone.
struct Channel {
  ChannelKind kind = ChannelKind::kNetwork;
  std::uint32_t node = 0;
  std::uint32_t unit = 0;
  std::uint32_t other = 0;
  friend auto operator<=>(const Channel&, const Channel&) = default;
};

// What one step puts on one channel. P3's contention factor counts pairs: in its benchmark cf pairs
// are 2 cf messages, cf in each direction. So
//   - with directions, cf is the number of messages in the direction that has more of them;
//   - without, it is half of all messages, rounded up, and so are the bytes.
struct ChannelUse {
  Channel channel;
  std::uint32_t cf = 0;
  double num_bytes = 0;      // in the busier direction, or half of all
  double message_bytes = 0;  // the mean message
  double num_rounds = 1;     // how often each of the cf pairs exchanges a message, on average
};

// P3's statistics of a step: every channel that it uses. Two ranks in the same unit use the channel
// of the smallest unit that holds both. A message between nodes uses both nodes' adapters. Requires
// a spot for every rank in the step.
std::vector<ChannelUse> channel_uses(const FlowStep& step, const std::vector<Spot>& spots);

enum class Model : std::uint8_t {
  // P3's: a step lasts as long as its slowest channel, t(m, cf), and steps follow each other. t is
  // half of an exchange, which is why P3's own times are about half of what it measures.
  kPaper,
  // A step lasts o_s + L + o_r for its first message, the overheads of the rank that has most of
  // them for the others, and for its slowest channel the bytes over what cf pairs get through it:
  // bandwidth(m, cf) = cf m / (2 t(m, cf) - start-up).
  kShared,
};
inline constexpr const char* kAllowedModels = "paper, shared";

// The statistics of one kind of channel over all steps, and all channels of the kind.
struct ChannelStatistics {
  std::uint32_t largest_cf = 0;
  double mean_cf = 0;             // over the steps that use it, of the largest in the step
  std::uint32_t num_steps = 0;    // that use it
  std::uint32_t num_binding = 0;  // in which it takes the longest
  double binding_us = 0;          // the time of those steps
};

struct Prediction {
  // With all cells at their lower quartile, median, upper quartile.
  Quartiles time_us;
  ChannelKind binding = ChannelKind::kNetwork;  // the kind that takes most of the time
  std::uint32_t num_steps = 0;
  std::map<ChannelKind, ChannelStatistics> channels;
};

// What is known of the machine's channels. `parameters`: of the network's messages; for channels
// inside a node the start-up is taken from the smallest message of their table.
struct Costs {
  const Contention& contention;
  Parameters parameters;
};

// The time of the traffic among ranks at these spots; 0 for one rank.
// Errors: a channel is used of which nothing was measured.
// Cost: O(flows log channels).
Result<Prediction> predict(const Traffic& traffic, const std::vector<Spot>& spots,
                           const Costs& costs, Model model);

}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "network/contention/contention_table.hpp"
#include "network/contention/traffic.hpp"

namespace hierbar::network {

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

}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/channel_use.hpp"

#include <algorithm>
#include <array>

namespace hierbar::network {
namespace {

struct Load {
  std::uint32_t num_flows = 0;
  double num_bytes = 0;
  double num_messages = 0;
  void add(const Flow& flow) {
    ++num_flows;
    num_bytes += flow.num_bytes;
    num_messages += flow.num_messages;
  }
};
// Both directions. Without directions only the first counts.
using Loads = std::array<Load, 2>;

struct Use {
  Channel channel;
  std::size_t direction = 0;
};

Use between(ChannelKind kind, std::uint32_t node, std::uint32_t from, std::uint32_t to) {
  return {{kind, node, std::min(from, to), std::max(from, to)}, from < to ? 0U : 1U};
}

Use inside_node(const Spot& from, const Spot& to) {
  if (from.package != to.package) return between(ChannelKind::kPackage, from.node, from.package, to.package);
  if (from.numa != to.numa) return between(ChannelKind::kAcrossNuma, from.node, from.numa, to.numa);
  if (from.l3 != to.l3) return {{ChannelKind::kNuma, from.node, from.numa, 0}, 0};
  return {{ChannelKind::kL3, from.node, from.l3, 0}, 0};
}

ChannelUse summary(const Channel& channel, const Loads& loads) {
  const Load& busier = loads[1].num_bytes > loads[0].num_bytes ? loads[1] : loads[0];
  ChannelUse use{.channel = channel,
                 .cf = std::max(loads[0].num_flows, loads[1].num_flows),
                 .num_bytes = busier.num_bytes,
                 .message_bytes = busier.num_bytes / busier.num_messages,
                 .num_rounds = busier.num_messages / busier.num_flows};
  if (has_directions(channel.kind)) return use;
  use.cf = (use.cf + 1) / 2;
  use.num_bytes /= 2;
  return use;
}

}  // namespace

std::vector<ChannelUse> channel_uses(const FlowStep& step, const std::vector<Spot>& spots) {
  std::map<Channel, Loads> loads;
  for (const Flow& flow : step) {
    const Spot& from = spots[flow.from];
    const Spot& to = spots[flow.to];
    if (from.node != to.node) {
      loads[{ChannelKind::kNetwork, from.node, 0, 0}][0].add(flow);
      loads[{ChannelKind::kNetwork, to.node, 0, 0}][1].add(flow);
    } else {
      const Use use = inside_node(from, to);
      loads[use.channel][use.direction].add(flow);
    }
  }
  std::vector<ChannelUse> uses;
  for (const auto& [channel, both] : loads) uses.push_back(summary(channel, both));
  return uses;
}

}  // namespace hierbar::network

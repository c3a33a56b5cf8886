// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/predict.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

namespace hierbar::network {
namespace {

bool holds(const Quartiles& interval, double value) {
  return interval.lower <= value && value <= interval.upper;
}

Split filled(std::uint32_t num_ranks, std::uint32_t per_node) {
  Split split(num_ranks / per_node, per_node);
  if (num_ranks % per_node != 0) split.push_back(num_ranks % per_node);
  return split;
}

Split even(std::uint32_t num_ranks, std::uint32_t num_nodes) {
  Split split(num_nodes, num_ranks / num_nodes);
  for (std::uint32_t node = 0; node < num_ranks % num_nodes; ++node) ++split[node];
  return split;
}

}  // namespace

std::vector<Split> all_splits(std::uint32_t num_ranks, std::uint32_t most_nodes,
                              std::uint32_t most_per_node) {
  std::vector<Split> splits;
  const auto add = [&](Split split) {
    if (split.size() <= most_nodes && split.front() <= most_per_node)
      splits.push_back(std::move(split));
  };
  for (std::uint32_t per_node = 1; per_node <= num_ranks; ++per_node)
    add(filled(num_ranks, per_node));
  for (std::uint32_t num_nodes = 1; num_nodes <= num_ranks; ++num_nodes)
    add(even(num_ranks, num_nodes));
  std::sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  return splits;
}

std::string describe(const Split& split) {
  std::string text;
  for (auto first = split.begin(); first != split.end();) {
    const auto last =
        std::find_if(first, split.end(), [first](std::uint32_t ranks) { return ranks != *first; });
    const auto count = static_cast<std::size_t>(last - first);
    const bool whole = count == split.size();
    if (!text.empty()) text += '+';
    if (whole || count > 2) {
      text += std::to_string(count) + 'x' + std::to_string(*first);
    } else {
      text += std::to_string(*first) + (count == 2 ? '+' + std::to_string(*first) : "");
    }
    first = last;
  }
  return text;
}

std::vector<std::uint32_t> rank_by_time(const std::vector<Quartiles>& times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times[a].median < times[b].median; });
  std::vector<std::uint32_t> ranks(times.size(), 1);
  for (std::size_t at = 0, first = 0; at < order.size(); ++at) {
    const Quartiles& best = times[order[first]];
    const Quartiles& own = times[order[at]];
    if (!holds(best, own.median) || !holds(own, best.median)) first = at;
    ranks[order[at]] = static_cast<std::uint32_t>(first + 1);
  }
  return ranks;
}

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
  if (from.package != to.package)
    return between(ChannelKind::kPackage, from.node, from.package, to.package);
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

namespace {

Quartiles operator+(const Quartiles& a, const Quartiles& b) {
  return {a.lower + b.lower, a.median + b.median, a.upper + b.upper};
}
Quartiles operator*(const Quartiles& a, double factor) {
  return {a.lower * factor, a.median * factor, a.upper * factor};
}

// The part of an exchange that does not depend on the size.
double start_up_us(ChannelKind kind, const ContentionTable& table, const Parameters& parameters) {
  const Quartiles smallest = table.time_us(0, 1);
  const double measured = 2 * smallest.median;
  if (kind != ChannelKind::kNetwork) return measured;
  return std::min(measured, parameters.send_overhead_us + parameters.latency_us +
                                parameters.receive_overhead_us);
}

// The bytes of the busier direction over the bandwidth that cf pairs have together.
Quartiles transfer_us(const ChannelUse& use, const ContentionTable& table, double start_us) {
  const Quartiles exchange = table.time_us(use.message_bytes, use.cf) * 2;
  // A cell that is below the start-up, by noise or because the message is small, has no bytes to
  // pay.
  const auto part = [&](double us) {
    return std::max(0.0, us - start_us) * use.num_bytes / (use.message_bytes * use.cf);
  };
  return {part(exchange.lower), part(exchange.median), part(exchange.upper)};
}

// The most messages that one rank sends and receives in the step, beyond the first.
double further_overheads_us(const FlowStep& step, std::size_t num_ranks,
                            const Parameters& parameters) {
  std::vector<double> busy(num_ranks, 0);
  for (const Flow& flow : step) {
    busy[flow.from] += flow.num_messages * parameters.send_overhead_us;
    busy[flow.to] += flow.num_messages * parameters.receive_overhead_us;
  }
  const double most = *std::max_element(busy.begin(), busy.end());
  return std::max(0.0, most - parameters.send_overhead_us - parameters.receive_overhead_us);
}

class Predictor {
 public:
  Predictor(const std::vector<Spot>& spots, const Costs& costs, Model model)
      : spots_(spots), costs_(costs), model_(model) {}

  void add(const FlowStep& step) {
    if (step.empty() || !problem_.empty()) return;
    ++result_.num_steps;
    const std::vector<ChannelUse> uses = channel_uses(step, spots_);
    Quartiles longest;
    ChannelKind binding = uses.front().channel.kind;
    for (const ChannelUse& use : uses) {
      const ContentionTable* table = costs_.contention.table_for(use.channel.kind);
      if (table == nullptr) return refuse(use.channel.kind);
      const Quartiles time = time_of(use, *table);
      if (time.median > longest.median) binding = use.channel.kind;
      longest = {std::max(longest.lower, time.lower), std::max(longest.median, time.median),
                 std::max(longest.upper, time.upper)};
    }
    if (model_ == Model::kShared) {
      const double overheads = further_overheads_us(step, spots_.size(), costs_.parameters);
      longest = longest + Quartiles{overheads, overheads, overheads};
    }
    result_.time_us = result_.time_us + longest;
    count(uses, binding, longest.median);
  }

  Result<Prediction> result() && {
    if (!problem_.empty()) return Error{problem_};
    double most = -1;
    for (auto& [kind, statistics] : result_.channels) {
      statistics.mean_cf /= statistics.num_steps;
      if (statistics.binding_us > most) result_.binding = kind;
      most = std::max(most, statistics.binding_us);
    }
    return std::move(result_);
  }

 private:
  Quartiles time_of(const ChannelUse& use, const ContentionTable& table) const {
    if (model_ == Model::kPaper) return table.time_us(use.message_bytes, use.cf) * use.num_rounds;
    const double start = start_up_us(use.channel.kind, table, costs_.parameters);
    return transfer_us(use, table, start) + Quartiles{start, start, start};
  }

  void refuse(ChannelKind kind) {
    problem_ = std::string("messages go over the channel '") + channel_name(kind) +
               "', which was not measured";
  }

  void count(const std::vector<ChannelUse>& uses, ChannelKind binding, double step_us) {
    std::map<ChannelKind, std::uint32_t> largest;
    for (const ChannelUse& use : uses) {
      std::uint32_t& cf = largest[use.channel.kind];
      cf = std::max(cf, use.cf);
    }
    for (const auto& [kind, cf] : largest) {
      ChannelStatistics& statistics = result_.channels[kind];
      statistics.largest_cf = std::max(statistics.largest_cf, cf);
      statistics.mean_cf += cf;  // result() divides it
      ++statistics.num_steps;
    }
    ++result_.channels[binding].num_binding;
    result_.channels[binding].binding_us += step_us;
  }

  const std::vector<Spot>& spots_;
  const Costs& costs_;
  Model model_;
  Prediction result_;
  std::string problem_;
};

}  // namespace

Result<Prediction> predict(const Traffic& traffic, const std::vector<Spot>& spots,
                           const Costs& costs, Model model) {
  Predictor predictor(spots, costs, model);
  for_each_step(traffic, static_cast<std::uint32_t>(spots.size()),
                [&](const FlowStep& step) { predictor.add(step); });
  return std::move(predictor).result();
}

}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/pair_classes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/text.hpp"

namespace hierbar::network {
namespace {

// How many switches up the nearest common one is, 0 for the same one. kNone: no common switch.
constexpr std::uint32_t kNone = kMostPairClasses - 1;

// Empty if an address has no switches, or no pattern that says so.
std::optional<std::vector<std::vector<std::string>>> switches_of(const std::vector<NodeAddress>& addresses) {
  std::vector<std::vector<std::string>> switches;
  for (const NodeAddress& node : addresses) {
    std::vector<std::string> parts = lower_words(node.address, '.');
    const std::vector<std::string> kinds = lower_words(node.pattern, '.');
    if (parts.size() < 2 || parts.size() != kinds.size() || kinds.back() != "node") return std::nullopt;
    parts.pop_back();
    switches.push_back(std::move(parts));
  }
  if (switches.empty()) return std::nullopt;
  return switches;
}

std::uint32_t switches_up(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto [end_a, end_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (end_a == a.begin()) return kNone;
  const auto up = std::max(a.end() - end_a, b.end() - end_b);
  return std::min(static_cast<std::uint32_t>(up), kNone - 1);
}

std::string switch_name(std::uint32_t up) {
  if (up == 0) return "same switch";
  if (up == kNone) return "no common switch";
  return std::to_string(up) + (up == 1 ? " switch up" : " switches up");
}

Grouping group_by_switch(const std::vector<NodePair>& pairs, const std::vector<std::vector<std::string>>& switches) {
  std::vector<std::uint32_t> distances;
  for (const auto& [a, b] : pairs) distances.push_back(switches_up(switches[a], switches[b]));
  std::map<std::uint32_t, std::uint32_t> class_of;
  for (const std::uint32_t up : distances) class_of.emplace(up, 0);
  Grouping grouping;
  for (auto& [up, index] : class_of) {
    index = static_cast<std::uint32_t>(grouping.names.size());
    grouping.names.push_back(switch_name(up));
  }
  for (const std::uint32_t up : distances) grouping.classes.push_back(class_of[up]);
  return grouping;
}

Grouping group_by_time(const std::vector<double>& round_trips_us) {
  std::vector<std::size_t> order(round_trips_us.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return round_trips_us[a] < round_trips_us[b]; });
  Grouping grouping{{}, std::vector<std::uint32_t>(order.size())};
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    const bool is_last = grouping.names.size() == kMostPairClasses - 1;
    while (end < order.size() && (is_last || round_trips_us[order[end]] < kClearlyFarther * round_trips_us[order[end - 1]]))
      ++end;
    for (std::size_t i = begin; i < end; ++i) grouping.classes[order[i]] = static_cast<std::uint32_t>(grouping.names.size());
    grouping.names.push_back(format_text("round trips of some %.3g us", round_trips_us[order[(begin + end) / 2]]));
    begin = end;
  }
  return grouping;
}

}  // namespace

std::vector<NodePair> sample_pairs(std::uint32_t num_nodes, std::uint32_t most) {
  std::vector<NodePair> pairs;
  const bool takes_all = std::uint64_t{num_nodes} * (num_nodes - 1) / 2 <= most;
  for (std::uint32_t distance = 1; takes_all && distance < num_nodes; ++distance) {
    for (std::uint32_t from = 0; from + distance < num_nodes; ++from) pairs.emplace_back(from, from + distance);
  }
  // As many of each distance, spread over the nodes.
  std::uint32_t num_distances = 0;
  for (std::uint32_t distance = 1; distance < num_nodes; distance *= 2) ++num_distances;
  const std::uint32_t of_each = std::max(most / std::max(num_distances, 1U), 1U);
  for (std::uint32_t distance = 1; !takes_all && distance < num_nodes; distance *= 2) {
    const std::uint32_t num_starts = num_nodes - distance;
    for (std::uint32_t i = 0; i < std::min(of_each, num_starts); ++i) {
      const auto from = static_cast<std::uint32_t>(std::uint64_t{i} * num_starts / std::min(of_each, num_starts));
      pairs.emplace_back(from, from + distance);
    }
  }
  return pairs;
}

Grouping group_pairs(const std::vector<NodePair>& pairs, const std::vector<double>& round_trips_us,
                     const std::vector<NodeAddress>& addresses) {
  if (const auto switches = switches_of(addresses)) return group_by_switch(pairs, *switches);
  return group_by_time(round_trips_us);
}

PairClass summarize(const std::string& name, std::uint32_t num_pairs, const std::vector<Parameters>& measurements) {
  const auto quartiles = [&](double Parameters::* member) {
    std::vector<double> values;
    for (const Parameters& one : measurements) values.push_back(one.*member);
    return quartiles_of(std::move(values));
  };
  return {.name = name,
          .num_pairs = num_pairs,
          .latency_us = quartiles(&Parameters::latency_us),
          .send_overhead_us = quartiles(&Parameters::send_overhead_us),
          .receive_overhead_us = quartiles(&Parameters::receive_overhead_us),
          .gap_us = quartiles(&Parameters::gap_us),
          .gap_per_byte_us = quartiles(&Parameters::gap_per_byte_us)};
}

}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/contention/splits.hpp"

#include <algorithm>
#include <numeric>

namespace hierbar::network {
namespace {

bool holds(const Quartiles& interval, double value) { return interval.lower <= value && value <= interval.upper; }

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

std::vector<Split> all_splits(std::uint32_t num_ranks, std::uint32_t most_nodes, std::uint32_t most_per_node) {
  std::vector<Split> splits;
  const auto add = [&](Split split) {
    if (split.size() <= most_nodes && split.front() <= most_per_node) splits.push_back(std::move(split));
  };
  for (std::uint32_t per_node = 1; per_node <= num_ranks; ++per_node) add(filled(num_ranks, per_node));
  for (std::uint32_t num_nodes = 1; num_nodes <= num_ranks; ++num_nodes) add(even(num_ranks, num_nodes));
  std::sort(splits.begin(), splits.end(),
            [](const Split& a, const Split& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
  return splits;
}

std::string describe(const Split& split) {
  std::string text;
  for (auto first = split.begin(); first != split.end();) {
    const auto last = std::find_if(first, split.end(), [first](std::uint32_t ranks) { return ranks != *first; });
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
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a].median < times[b].median; });
  std::vector<std::uint32_t> ranks(times.size(), 1);
  for (std::size_t at = 0, first = 0; at < order.size(); ++at) {
    const Quartiles& best = times[order[first]];
    const Quartiles& own = times[order[at]];
    if (!holds(best, own.median) || !holds(own, best.median)) first = at;
    ranks[order[at]] = static_cast<std::uint32_t>(first + 1);
  }
  return ranks;
}

}  // namespace hierbar::network

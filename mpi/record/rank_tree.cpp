// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/record/rank_tree.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

namespace hierbar::mpi {
namespace {

std::uint64_t between(std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; }

std::uint32_t root_of(const std::vector<std::uint32_t>& parents, std::uint32_t rank) {
  for (std::size_t steps = 0; parents[rank] != rank && steps < parents.size(); ++steps)
    rank = parents[rank];
  return rank;
}

// When all ranks of the root's node had arrived.
std::uint64_t complete(const Stamps& root) {
  return root.gathered != 0 ? root.gathered : root.arrived;
}

}  // namespace

RankTree::RankTree(const std::vector<std::uint32_t>& parents, bool several_nodes,
                   const std::vector<std::uint8_t>& units)
    : num_ranks_(static_cast<std::uint32_t>(parents.size())) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;  // by root; all under 0 on one node
  for (std::uint32_t i = 0; i < num_ranks_; ++i)
    members[several_nodes ? root_of(parents, i) : 0].push_back(i);
  std::vector<std::uint32_t> place(parents.size());
  for (const auto& [root, ranks] : members) {
    for (std::uint32_t i = 0; i < ranks.size(); ++i) place[ranks[i]] = i;
    std::vector<std::uint32_t> tree;
    std::vector<std::uint8_t> units_of_node;
    for (const std::uint32_t rank : ranks) {
      tree.push_back(place[parents[rank]]);
      if (!units.empty()) units_of_node.push_back(units[rank]);
    }
    report::Shape shape(1, std::move(tree), units_of_node, units.empty() ? 0U : units.back());
    for (report::LevelGroups& level : shape.levels) {
      for (report::LevelGroups::Group& group : level.groups) {
        for (std::uint32_t& member : group.threads) member = ranks[member];
      }
    }
    nodes_.push_back({ranks, std::move(shape), root});
  }
}

bool RankTree::leads(std::uint32_t rank) const {
  for (const Node& node : nodes_) {
    const auto found = std::find(node.ranks.begin(), node.ranks.end(), rank);
    const auto place = static_cast<std::uint32_t>(found - node.ranks.begin());
    if (found != node.ranks.end()) return node.shape.parents[place] == place;
  }
  return false;
}

RankTree::Arrival RankTree::last_arrival(const Node& node, const std::vector<Stamps>& stamps) {
  Arrival last{0, 0};
  for (const std::uint32_t rank : node.ranks) {
    if (stamps[rank].arrived > last.time) last = {stamps[rank].arrived, rank};
  }
  return last;
}

bool RankTree::summarise(const std::vector<Stamps>& stamps, const TraceClock& clock,
                         std::vector<Sight>& sights, report::BarrierTimes& times) const {
  // 1. Which node came last.
  std::size_t last_node = 0;
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Stamps& root = stamps[nodes_[i].root];
    const std::uint64_t met = between(complete(root), root.released);
    if (met < shortest) {
      shortest = met;
      last_node = i;
    }
  }
  // 2. When its last rank arrived, by the clock of each node.
  const Arrival last = last_arrival(nodes_[last_node], stamps);
  const std::uint64_t gathering = between(last.time, complete(stamps[nodes_[last_node].root]));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::uint64_t time = last.time;
    if (i != last_node) {
      const Stamps& root = stamps[nodes_[i].root];
      const std::uint64_t all_complete =
          complete(root) + (between(complete(root), root.released) - shortest);
      time = std::max(last_arrival(nodes_[i], stamps).time, all_complete - gathering);
    }
    for (const std::uint32_t rank : nodes_[i].ranks)
      sights[rank] = {time, rank == last.rank ? 1U : 0U};
  }
  // 3. How long the barrier took.
  return add_times(nodes_[last_node], stamps, last.time, clock, times);
}

bool RankTree::add_times(const Node& node, const std::vector<Stamps>& stamps, std::uint64_t last,
                         const TraceClock& clock, report::BarrierTimes& times) const {
  std::vector<report::Phases> phases(node.ranks.size());
  std::vector<const report::Phases*> of_all;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const Stamps& own = stamps[node.ranks[i]];
    phases[i].arrived = own.arrived;
    phases[i].gathered = own.gathered;
    phases[i].released = own.released;
    of_all.push_back(&phases[i]);
    end = std::max(end, own.left);
  }
  times.span.add(clock.to_ns(between(last, end)));
  if (times.levels == nullptr) {
    times.levels = std::make_unique<report::LevelTimes>();
    times.levels->groups = node.shape.levels;
  }
  return add_episode(*times.levels, node.shape, of_all, between(last, end), clock);
}

void add_wait(report::ThreadTimes& times, const Stamps& stamps, const RankTree::Sight& sight,
              const TraceClock& clock) {
  const auto between = [&](std::uint64_t from, std::uint64_t to) {
    return to > from ? clock.to_ns(to - from) : 0;
  };
  times.imbalance.add(between(stamps.arrived, sight.last));
  times.sync.add(between(std::max(sight.last, stamps.arrived), stamps.left));
  times.last_arrivals += sight.is_last_itself;
}

}  // namespace hierbar::mpi

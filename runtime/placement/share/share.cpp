// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/share.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <numeric>
#include <string>

namespace hierbar {
namespace {

constexpr std::array kCutLevels = {Level::kPackage, Level::kNuma, Level::kL3};

// How good a choice of cuts is. First it counts how many cuts fall on edges of packages, of NUMA
// nodes and of L3 caches: the more the better. Then it is the squared distance of the cuts from
// proportional parts, as a negative number.
struct Worth {
  std::array<int, kCutLevels.size()> edges{};
  double closeness = 0;

  friend std::partial_ordering operator<=>(const Worth&, const Worth&) = default;
};

// The pool as a row of cores or cpus, in the order of the tree.
class Row {
 public:
  Row(const Machine& machine, const CpuSet& pool, std::size_t num_ranks) {
    for (const Unit& unit : machine.units) {
      const CpuSet cpus = unit.cpus & pool;
      if (unit.children.empty() && !cpus.empty()) items_.push_back(cpus);
    }
    if (items_.size() < num_ranks) split_cores();
    find_edges(machine);
  }

  std::size_t size() const { return items_.size(); }

  // For a cut in front of item `position`: 1 for each of kCutLevels that has an edge there.
  const std::array<int, kCutLevels.size()>& edges(std::size_t position) const { return edges_[position]; }

  CpuSet part(std::size_t begin, std::size_t end) const {
    CpuSet result;
    for (std::size_t i = begin; i < end; ++i) result |= items_[i];
    return result;
  }

 private:
  void split_cores() {
    std::vector<CpuSet> cpus;
    for (const CpuSet& core : items_) {
      for (const std::uint32_t cpu : core) cpus.push_back(CpuSet::range(cpu, cpu));
    }
    items_ = std::move(cpus);
  }

  void find_edges(const Machine& machine) {
    edges_.resize(items_.size() + 1);
    for (std::size_t level = 0; level < kCutLevels.size(); ++level) {
      std::vector<int> unit_of(items_.size(), -1);
      for (std::size_t unit = 0; unit < machine.units.size(); ++unit) {
        if (!machine.units[unit].has(kCutLevels[level])) continue;
        for (std::size_t i = 0; i < items_.size(); ++i) {
          if (items_[i].intersects(machine.units[unit].cpus)) unit_of[i] = static_cast<int>(unit);
        }
      }
      for (std::size_t i = 1; i < items_.size(); ++i) edges_[i][level] = unit_of[i] != unit_of[i - 1] ? 1 : 0;
    }
  }

  std::vector<CpuSet> items_;
  std::vector<std::array<int, kCutLevels.size()>> edges_;
};

// Finds the best end of every rank's part, by dynamic programming over the ranks. For each place
// where a rank's part may end it keeps the best worth of all cuts up to there, and where the rank
// before ended. It leaves out places that are more than a part away from the proportional one, so
// that thousands of ranks take milliseconds.
class Cutter {
 public:
  Cutter(const Row& row, const std::vector<std::uint32_t>& threads) : row_(row) {
    const double total = std::accumulate(threads.begin(), threads.end(), 0.0);
    const bool enough = total <= static_cast<double>(row.size());
    std::vector<std::size_t> smallest;
    for (const std::uint32_t count : threads) {
      const double part = static_cast<double>(row.size()) * count / total;
      const double least = enough ? std::max<double>(count, 0.75 * part) : std::max(1.0, part);
      smallest.push_back(static_cast<std::size_t>(least));
      ranks_.push_back({.smallest = 0, .part = part, .ideal_end = 0, .first_end = 0, .last_end = 0});
    }
    make_room(smallest);
    set_limits(smallest);
  }

  // The positions behind the last item of each rank.
  std::vector<std::size_t> cut() const {
    const std::vector<State> start(1);
    std::vector<std::vector<State>> states;
    for (const Rank& rank : ranks_) states.push_back(advance(rank, states.empty() ? start : states.back()));
    std::vector<std::size_t> ends(ranks_.size());
    // The last rank has one state: the end of the row.
    std::size_t chosen = 0;
    for (std::size_t rank = ranks_.size(); rank-- > 0;) {
      ends[rank] = states[rank][chosen].end;
      chosen = states[rank][chosen].previous;
    }
    return ends;
  }

 private:
  struct Rank {
    std::size_t smallest;
    double part;
    double ideal_end;
    // Where its part may end, so that all other ranks get their smallest.
    std::size_t first_end, last_end;
  };
  struct State {
    std::size_t end = 0;
    // An index into the states of the rank before.
    std::size_t previous = 0;
    Worth worth;
  };

  // Because every rank gets at least one item, the ranks may have more than there is. The largest
  // parts give that back.
  void make_room(std::vector<std::size_t>& smallest) const {
    for (std::size_t sum = std::accumulate(smallest.begin(), smallest.end(), std::size_t{0}); sum > row_.size(); --sum) {
      --*std::max_element(smallest.begin(), smallest.end());
    }
  }

  void set_limits(const std::vector<std::size_t>& smallest) {
    std::size_t left = std::accumulate(smallest.begin(), smallest.end(), std::size_t{0});
    std::size_t before = 0;
    double ideal = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[i];
      before += smallest[i];
      left -= smallest[i];
      ideal += rank.part;
      const auto lowest = static_cast<double>(before);
      const auto highest = static_cast<double>(row_.size() - left);
      rank.smallest = smallest[i];
      rank.ideal_end = std::clamp(ideal, lowest, highest);
      const double reach = std::max(2.0, rank.part);
      rank.first_end = static_cast<std::size_t>(std::max(lowest, rank.ideal_end - reach));
      rank.last_end = static_cast<std::size_t>(std::min(highest, rank.ideal_end + reach));
    }
    ranks_.back().first_end = ranks_.back().last_end = row_.size();
  }

  std::vector<State> advance(const Rank& rank, const std::vector<State>& before) const {
    std::vector<State> result;
    for (std::size_t end = rank.first_end; end <= rank.last_end; ++end) {
      const State* best = nullptr;
      for (const State& state : before) {
        if (state.end + rank.smallest > end) break;
        if (best == nullptr || state.worth > best->worth) best = &state;
      }
      if (best == nullptr) continue;
      result.push_back({end, static_cast<std::size_t>(best - before.data()), worth_with(best->worth, end, rank.ideal_end)});
    }
    return result;
  }

  Worth worth_with(Worth worth, std::size_t cut, double ideal) const {
    for (std::size_t level = 0; level < kCutLevels.size(); ++level) worth.edges[level] += row_.edges(cut)[level];
    const double distance = static_cast<double>(cut) - ideal;
    worth.closeness -= distance * distance;
    return worth;
  }

  const Row& row_;
  std::vector<Rank> ranks_;
};

}  // namespace

Result<std::vector<CpuSet>> share_out(const Machine& machine, const CpuSet& pool, const std::vector<std::uint32_t>& threads) {
  const Row row(machine, pool, threads.size());
  if (row.size() < threads.size()) {
    return Error{std::to_string(threads.size()) + " ranks for " + std::to_string(row.size()) + " cpus"};
  }
  std::vector<CpuSet> shares;
  std::size_t begin = 0;
  for (const std::size_t end : Cutter(row, threads).cut()) {
    shares.push_back(row.part(begin, end));
    begin = end;
  }
  return shares;
}

std::uint32_t count_touched(const Machine& machine, const CpuSet& share, Level level) {
  return static_cast<std::uint32_t>(std::count_if(machine.units.begin(), machine.units.end(), [&](const Unit& unit) {
    return unit.has(level) && unit.cpus.intersects(share);
  }));
}

}  // namespace hierbar

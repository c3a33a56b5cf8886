// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/share.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topology/machine.hpp"

namespace hierbar {
namespace {

// Where shares are cut best, the best first.
constexpr std::array kCutLevels = {Level::kPackage, Level::kNuma, Level::kL3};

// The pool as a row of cores or cpus, in the order of the tree.
class CoreRow {
 public:
  CoreRow(const Machine& machine, const CpuSet& pool, std::size_t num_ranks) {
    for (const Unit& unit : machine.units) {
      const CpuSet cpus = unit.cpus & pool;
      if (unit.children.empty() && !cpus.empty()) items_.push_back(cpus);
    }
    if (items_.size() < num_ranks) split_cores();
    find_edges(machine);
  }

  std::size_t size() const { return items_.size(); }

  // For a cut in front of item `position`: 1 for each of kCutLevels that has an edge there.
  const std::array<int, kCutLevels.size()>& edges(std::size_t position) const {
    return edges_[position];
  }

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
      for (std::size_t i = 1; i < items_.size(); ++i)
        edges_[i][level] = unit_of[i] != unit_of[i - 1] ? 1 : 0;
    }
  }

  std::vector<CpuSet> items_;
  std::vector<std::array<int, kCutLevels.size()>> edges_;
};

// How good a choice of cuts is. First it counts how many cuts fall on edges of packages, of NUMA
// nodes and of L3 caches: the more the better. Then it is the squared distance of the cuts from
// proportional parts, as a negative number.
struct Worth {
  std::array<int, kCutLevels.size()> edges{};
  double closeness = 0;

  friend std::partial_ordering operator<=>(const Worth&, const Worth&) = default;
};

// A piece of the row for ranks that follow each other.
struct RowPiece {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t first_rank = 0;
  std::size_t num_ranks = 0;

  std::size_t size() const { return end - begin; }
};

// What a rank may get of a segment.
struct Part {
  double proportional = 0;
  std::size_t smallest = 0;
  std::size_t largest = 0;
};

// Which edges count. Those of NUMA nodes that hold several packages are edges of packages, too.
enum class Edges : std::uint8_t { kOfPackages, kInsidePackages };

// Finds the best end of every rank's part, by dynamic programming over the ranks. For each place
// where a rank's part may end it keeps the best worth of all cuts up to there, and where the rank
// before ended. It leaves out places that are more than a part away from the proportional one, so
// that thousands of ranks take milliseconds.
class Cutter {
 public:
  Cutter(const CoreRow& row, const RowPiece& segment, Edges edges, std::vector<Part> parts)
      : row_(row), segment_(segment), edges_(edges), parts_(std::move(parts)) {
    set_limits();
  }

  // The positions behind the last item of each rank.
  std::vector<std::size_t> cut() const {
    const std::vector<State> start{{.end = segment_.begin, .previous = 0, .worth = {}}};
    std::vector<std::vector<State>> states;
    for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
      states.push_back(advance(rank, states.empty() ? start : states.back()));
    }
    std::vector<std::size_t> ends(parts_.size());
    // The last rank has one state: the end of the segment.
    std::size_t chosen = 0;
    for (std::size_t rank = parts_.size(); rank-- > 0;) {
      ends[rank] = states[rank][chosen].end;
      chosen = states[rank][chosen].previous;
    }
    return ends;
  }

 private:
  // Where a rank's part may end, so that all ranks can get what they may.
  struct Limits {
    double ideal_end;
    std::size_t first_end, last_end;
  };
  struct State {
    std::size_t end = 0;
    // An index into the states of the rank before.
    std::size_t previous = 0;
    Worth worth;
  };

  void set_limits() {
    Part before;
    Part left;
    for (const Part& part : parts_) {
      left.smallest += part.smallest;
      left.largest += part.largest;
    }
    for (const Part& part : parts_) {
      before.proportional += part.proportional;
      before.smallest += part.smallest;
      before.largest += part.largest;
      left.smallest -= part.smallest;
      left.largest -= part.largest;
      const std::size_t size = segment_.size();
      const std::size_t lowest = std::max(before.smallest, size - std::min(size, left.largest));
      const std::size_t highest = std::max(lowest, std::min(before.largest, size - left.smallest));
      const double ideal = std::clamp(before.proportional, static_cast<double>(lowest),
                                      static_cast<double>(highest));
      const double reach = std::max(2.0, part.proportional);
      const double first = std::max(static_cast<double>(lowest), ideal - reach);
      const double last = std::min(static_cast<double>(highest), ideal + reach);
      limits_.push_back({static_cast<double>(segment_.begin) + ideal,
                         segment_.begin + static_cast<std::size_t>(first),
                         segment_.begin + static_cast<std::size_t>(last)});
    }
    limits_.back().first_end = limits_.back().last_end = segment_.end;
  }

  std::vector<State> advance(std::size_t rank, const std::vector<State>& before) const {
    const Limits& limits = limits_[rank];
    std::vector<State> result;
    for (std::size_t end = limits.first_end; end <= limits.last_end; ++end) {
      const State* best = nullptr;
      for (const State& state : before) {
        if (state.end + parts_[rank].smallest > end) break;
        if (state.end + parts_[rank].largest < end) continue;
        if (best == nullptr || state.worth > best->worth) best = &state;
      }
      if (best == nullptr) continue;
      result.push_back({end, static_cast<std::size_t>(best - before.data()),
                        worth_with(best->worth, end, limits.ideal_end)});
    }
    return result;
  }

  Worth worth_with(Worth worth, std::size_t cut, double ideal) const {
    const auto& [package, numa, l3] = row_.edges(cut);
    const bool counts = edges_ == Edges::kInsidePackages || package != 0;
    worth.edges[0] += package;
    worth.edges[1] += counts ? numa : 0;
    worth.edges[2] += edges_ == Edges::kInsidePackages ? l3 : 0;
    const double distance = static_cast<double>(cut) - ideal;
    worth.closeness -= distance * distance;
    return worth;
  }

  const CoreRow& row_;
  const RowPiece segment_;
  const Edges edges_;
  const std::vector<Part> parts_;
  std::vector<Limits> limits_;
};

// Because every rank gets at least one item, the ranks may have more than there is. The largest
// parts give that back.
void make_room(std::vector<Part>& parts, std::size_t size) {
  const auto add = [](std::size_t sum, const Part& part) { return sum + part.smallest; };
  for (std::size_t sum = std::accumulate(parts.begin(), parts.end(), std::size_t{0}, add);
       sum > size; --sum) {
    --std::max_element(parts.begin(), parts.end(), [](const Part& one, const Part& other) {
        return one.smallest < other.smallest;
      })->smallest;
  }
}

// Cuts the row for ranks with these numbers of threads.
class Sharing {
 public:
  Sharing(const CoreRow& row, const std::vector<std::uint32_t>& threads)
      : row_(row),
        threads_(threads),
        total_(std::accumulate(threads.begin(), threads.end(), 0.0)) {}

  // The positions behind the last item of each rank.
  std::vector<std::size_t> ends() const {
    std::vector<std::size_t> result;
    for (const RowPiece& segment : segments()) {
      const std::vector<std::size_t> balanced = balance(segment);
      result.insert(result.end(), balanced.begin(), balanced.end());
    }
    return result;
  }

 private:
  std::span<const std::uint32_t> threads_in(const RowPiece& segment) const {
    return std::span(threads_).subspan(segment.first_rank, segment.num_ranks);
  }

  // The limits of parts which are not balanced. A rank gets three quarters of its part, and a core
  // for each thread if there are enough.
  std::vector<Part> flexible_parts(const RowPiece& segment) const {
    const std::span<const std::uint32_t> threads = threads_in(segment);
    const double total = std::accumulate(threads.begin(), threads.end(), 0.0);
    const bool enough = total_ <= static_cast<double>(row_.size());
    std::vector<Part> parts;
    for (const std::uint32_t count : threads) {
      const double part = static_cast<double>(segment.size()) * count / total;
      const double least = enough ? std::max<double>(count, 0.75 * part) : std::max(1.0, part);
      parts.push_back({part, static_cast<std::size_t>(least), segment.size()});
    }
    make_room(parts, segment.size());
    return parts;
  }

  // 1. Chooses the ranks after which a package ends: as many of these as can be, so that few shares
  //    lie in several packages.
  std::vector<RowPiece> segments() const {
    const RowPiece whole{0, row_.size(), 0, threads_.size()};
    const std::vector<std::size_t> cuts =
        Cutter(row_, whole, Edges::kOfPackages, flexible_parts(whole)).cut();
    std::vector<RowPiece> result(1);
    for (std::size_t rank = 0; rank < cuts.size(); ++rank) {
      ++result.back().num_ranks;
      result.back().end = cuts[rank];
      const bool is_last = rank + 1 == cuts.size();
      if (!is_last && row_.edges(cuts[rank])[0] != 0)
        result.push_back({cuts[rank], cuts[rank], rank + 1, 0});
    }
    return result;
  }

  // 2. Inside such a segment ranks with as many threads get the same, rounded down or up. Which of
  //    the two decides how many cuts fall on edges. For ranks with different numbers of threads
  //    edges matter more than parts of a core.
  std::vector<std::size_t> balance(const RowPiece& segment) const {
    std::vector<Part> parts = flexible_parts(segment);
    const std::span<const std::uint32_t> threads = threads_in(segment);
    if (std::all_of(threads.begin(), threads.end(),
                    [&](std::uint32_t count) { return count == threads.front(); })) {
      const std::size_t rounded_down = segment.size() / segment.num_ranks;
      const std::size_t rounded_up =
          rounded_down + (segment.size() % segment.num_ranks == 0 ? 0 : 1);
      for (Part& part : parts) part = {part.proportional, rounded_down, rounded_up};
    }
    return Cutter(row_, segment, Edges::kInsidePackages, std::move(parts)).cut();
  }

  const CoreRow& row_;
  const std::vector<std::uint32_t>& threads_;
  const double total_;
};

}  // namespace

Result<std::vector<CpuSet>> share_out(const Machine& machine, const CpuSet& pool,
                                      const std::vector<std::uint32_t>& threads) {
  const CoreRow row(machine, pool, threads.size());
  if (row.size() < threads.size()) {
    return Error{std::to_string(threads.size()) + " ranks for " + std::to_string(row.size()) +
                 " cpus"};
  }
  std::vector<CpuSet> shares;
  std::size_t begin = 0;
  for (const std::size_t end : Sharing(row, threads).ends()) {
    shares.push_back(row.part(begin, end));
    begin = end;
  }
  return shares;
}

std::uint32_t count_touched(const Machine& machine, const CpuSet& share, Level level) {
  return static_cast<std::uint32_t>(std::count_if(
      machine.units.begin(), machine.units.end(),
      [&](const Unit& unit) { return unit.has(level) && unit.cpus.intersects(share); }));
}

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Shares and ranks as a bipartite graph, matched by augmenting paths (H. W. Kuhn, Naval Research
// Logistics Quarterly 2, 1955).
class Matching {
 public:
  Matching(const std::vector<CpuSet>& shares, const std::vector<std::uint32_t>& threads,
           const std::vector<CpuSet>& homes)
      : threads_(threads),
        share_of_(shares.size(), kNone),
        rank_of_(shares.size(), kNone),
        wanted_(shares.size()) {
    find_wanted(shares, homes);
    // Ranks whose own share has a cpu of their home come first, so that no more ranks move than
    // must.
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      if (shares[rank].intersects(homes[rank])) take(rank, rank);
    }
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      if (share_of_[rank] != kNone) continue;
      std::vector<bool> seen(shares.size());
      find_home(rank, seen);
    }
    give_the_rest();
  }

  // By rank.
  const std::vector<std::size_t>& share_of() const { return share_of_; }

 private:
  // Finds for each rank the shares that have a cpu of its home. Homes are often narrow and shares
  // are disjoint, so it goes from each cpu of a home to the share that has it.
  void find_wanted(const std::vector<CpuSet>& shares, const std::vector<CpuSet>& homes) {
    std::map<std::uint32_t, std::size_t> share_with;
    for (std::size_t share = 0; share < shares.size(); ++share) {
      for (const std::uint32_t cpu : shares[share]) share_with[cpu] = share;
    }
    for (std::size_t rank = 0; rank < homes.size(); ++rank) {
      std::vector<std::size_t>& wanted = wanted_[rank];
      if (shares[rank].intersects(homes[rank])) wanted.push_back(rank);
      for (const std::uint32_t cpu : homes[rank]) {
        const auto found = share_with.find(cpu);
        if (found == share_with.end() || threads_[found->second] != threads_[rank]) continue;
        if (wanted.empty() || wanted.back() != found->second) wanted.push_back(found->second);
      }
    }
  }

  void take(std::size_t rank, std::size_t share) {
    share_of_[rank] = share;
    rank_of_[share] = rank;
  }

  // Finds a share for the rank: a free one, or that of another rank which then finds another one.
  bool find_home(std::size_t rank, std::vector<bool>& seen) {
    for (const std::size_t share : wanted_[rank]) {
      if (seen[share]) continue;
      seen[share] = true;
      if (rank_of_[share] != kNone && !find_home(rank_of_[share], seen)) continue;
      take(rank, share);
      return true;
    }
    return false;
  }

  // A rank that is left gets its own share if that is left, or else the next one for as many
  // threads.
  void give_the_rest() {
    for (std::size_t rank = 0; rank < share_of_.size(); ++rank) {
      if (share_of_[rank] == kNone && rank_of_[rank] == kNone) take(rank, rank);
    }
    std::map<std::uint32_t, std::vector<std::size_t>> left;  // by number of threads, last first
    for (std::size_t share = rank_of_.size(); share-- > 0;) {
      if (rank_of_[share] == kNone) left[threads_[share]].push_back(share);
    }
    for (std::size_t rank = 0; rank < share_of_.size(); ++rank) {
      if (share_of_[rank] != kNone) continue;
      std::vector<std::size_t>& same = left[threads_[rank]];
      take(rank, same.back());
      same.pop_back();
    }
  }

  const std::vector<std::uint32_t>& threads_;
  std::vector<std::size_t> share_of_;  // by rank
  std::vector<std::size_t> rank_of_;   // by share
  // By rank: the shares that have a cpu of its home.
  std::vector<std::vector<std::size_t>> wanted_;
};

}  // namespace

std::vector<CpuSet> assign_shares(const std::vector<CpuSet>& shares,
                                  const std::vector<std::uint32_t>& threads,
                                  const std::vector<CpuSet>& homes) {
  std::vector<CpuSet> result;
  const Matching matching(shares, threads, homes);
  for (const std::size_t share : matching.share_of()) result.push_back(shares[share]);
  return result;
}

}  // namespace hierbar

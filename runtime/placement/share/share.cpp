// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/share.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "placement/share/core_row.hpp"

namespace hierbar {
namespace {

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
      const double ideal = std::clamp(before.proportional, static_cast<double>(lowest), static_cast<double>(highest));
      const double reach = std::max(2.0, part.proportional);
      const double first = std::max(static_cast<double>(lowest), ideal - reach);
      const double last = std::min(static_cast<double>(highest), ideal + reach);
      limits_.push_back({static_cast<double>(segment_.begin) + ideal, segment_.begin + static_cast<std::size_t>(first),
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
      result.push_back({end, static_cast<std::size_t>(best - before.data()), worth_with(best->worth, end, limits.ideal_end)});
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
  for (std::size_t sum = std::accumulate(parts.begin(), parts.end(), std::size_t{0}, add); sum > size; --sum) {
    --std::max_element(parts.begin(), parts.end(), [](const Part& one, const Part& other) {
        return one.smallest < other.smallest;
      })->smallest;
  }
}

// Cuts the row for ranks with these numbers of threads.
class Sharing {
 public:
  Sharing(const CoreRow& row, const std::vector<std::uint32_t>& threads)
      : row_(row), threads_(threads), total_(std::accumulate(threads.begin(), threads.end(), 0.0)) {}

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
    const std::vector<std::size_t> cuts = Cutter(row_, whole, Edges::kOfPackages, flexible_parts(whole)).cut();
    std::vector<RowPiece> result(1);
    for (std::size_t rank = 0; rank < cuts.size(); ++rank) {
      ++result.back().num_ranks;
      result.back().end = cuts[rank];
      const bool is_last = rank + 1 == cuts.size();
      if (!is_last && row_.edges(cuts[rank])[0] != 0) result.push_back({cuts[rank], cuts[rank], rank + 1, 0});
    }
    return result;
  }

  // 2. Inside such a segment ranks with as many threads get the same, rounded down or up. Which of
  //    the two decides how many cuts fall on edges. For ranks with different numbers of threads
  //    edges matter more than parts of a core.
  std::vector<std::size_t> balance(const RowPiece& segment) const {
    std::vector<Part> parts = flexible_parts(segment);
    const std::span<const std::uint32_t> threads = threads_in(segment);
    if (std::all_of(threads.begin(), threads.end(), [&](std::uint32_t count) { return count == threads.front(); })) {
      const std::size_t rounded_down = segment.size() / segment.num_ranks;
      const std::size_t rounded_up = rounded_down + (segment.size() % segment.num_ranks == 0 ? 0 : 1);
      for (Part& part : parts) part = {part.proportional, rounded_down, rounded_up};
    }
    return Cutter(row_, segment, Edges::kInsidePackages, std::move(parts)).cut();
  }

  const CoreRow& row_;
  const std::vector<std::uint32_t>& threads_;
  const double total_;
};

}  // namespace

Result<std::vector<CpuSet>> share_out(const Machine& machine, const CpuSet& pool, const std::vector<std::uint32_t>& threads) {
  const CoreRow row(machine, pool, threads.size());
  if (row.size() < threads.size()) {
    return Error{std::to_string(threads.size()) + " ranks for " + std::to_string(row.size()) + " cpus"};
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
  return static_cast<std::uint32_t>(std::count_if(machine.units.begin(), machine.units.end(), [&](const Unit& unit) {
    return unit.has(level) && unit.cpus.intersects(share);
  }));
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/pattern.hpp"

#include <algorithm>
#include <deque>

#include "placement/share/places.hpp"
#include "placement/share/share.hpp"

namespace hierbar {
namespace {

// --- 1. What is given out, a package at a time

// The pool's cpus in each package, in the order of the tree. Cpus in no package come last, as one
// more package.
std::vector<CpuSet> packages_of(const Machine& machine, const CpuSet& pool) {
  std::vector<CpuSet> packages;
  CpuSet rest = pool & machine.present;
  for (const Unit& unit : machine.units) {
    if (!unit.has(Level::kPackage)) continue;
    if (const CpuSet cpus = unit.cpus & pool; !cpus.empty()) packages.push_back(cpus);
    rest -= unit.cpus;
  }
  if (!rest.empty()) packages.push_back(rest);
  return packages;
}

// The items in another order, `count` of them at a time: those that a rank takes together stay
// together.
std::vector<CpuSet> reordered(Pattern pattern, const std::vector<CpuSet>& items,
                              std::size_t count) {
  const std::size_t num_groups = items.size() / count;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < num_groups; ++i) {
    if (pattern == Pattern::kEnds) order.push_back(i % 2 == 0 ? i / 2 : num_groups - 1 - i / 2);
    if (pattern == Pattern::kHalves) order.push_back(i % 2 == 0 ? i / 2 : (num_groups + i) / 2);
    if (pattern == Pattern::kSwapped) order.push_back(num_groups - 1 - i);
  }
  std::vector<CpuSet> result;
  for (const std::size_t group : order) {
    for (std::size_t i = 0; i < count; ++i) result.push_back(items[group * count + i]);
  }
  result.insert(result.end(), items.begin() + static_cast<std::ptrdiff_t>(result.size()),
                items.end());
  return result;
}

// `is_early`: the package is in the first half of those that are given out.
std::vector<CpuSet> items_of(Pattern pattern, const Machine& machine, const CpuSet& cpus,
                             std::uint32_t num_threads, bool is_early) {
  const std::vector<CpuSet> cores = cores_of(machine, cpus);
  switch (pattern) {
    case Pattern::kCores:
      return cores;
    case Pattern::kThreads:
      return cpus_core_by_core(cores);
    case Pattern::kRank:
      return cpus_core_by_core({cpus});
    case Pattern::kEnds:
    case Pattern::kHalves:
      return cpus_core_first(reordered(pattern, cores, num_threads));
    case Pattern::kSwapped:
      return cpus_core_first(is_early ? reordered(pattern, cores, num_threads) : cores);
    default:
      return cpus_core_first(cores);
  }
}

// --- 2. Giving it out

class Supply {
 public:
  Supply(Pattern pattern, const Machine& machine, const CpuSet& pool, std::uint32_t num_threads) {
    // kRank goes by the numbers of cpus, whatever the packages. kPacked goes along the
    // tree, one package after another.
    const bool by_package = pattern != Pattern::kRank && pattern != Pattern::kPacked;
    std::vector<CpuSet> parts =
        by_package ? packages_of(machine, pool) : std::vector{pool & machine.present};
    if (pattern == Pattern::kSwapped) std::reverse(parts.begin(), parts.end());
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const std::vector<CpuSet> items =
          items_of(pattern, machine, parts[part], num_threads, part < parts.size() / 2);
      if (!items.empty()) full_.emplace_back(items.begin(), items.end());
    }
    left_ = full_;
  }

  std::size_t num_packages() const { return full_.size(); }

  // Takes `count` items, but none twice, from package number `package` on.
  CpuSet take(std::size_t package, std::size_t count) {
    CpuSet taken;
    std::size_t at = with_enough(package, count);
    for (std::size_t size = std::min(count, num_items()), i = 0; i < size; ++i) {
      if (is_used_up()) left_ = full_;
      while (left_[at].empty()) at = (at + 1) % left_.size();
      taken |= left_[at].front();
      left_[at].pop_front();
    }
    return taken;
  }

 private:
  std::size_t with_enough(std::size_t package, std::size_t count) const {
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const std::size_t candidate = (package + i) % left_.size();
      if (left_[candidate].size() >= count) return candidate;
    }
    return package;
  }
  std::size_t num_items() const {
    std::size_t sum = 0;
    for (const auto& items : full_) sum += items.size();
    return sum;
  }
  bool is_used_up() const {
    return std::all_of(left_.begin(), left_.end(), [](const auto& items) { return items.empty(); });
  }

  std::vector<std::deque<CpuSet>> full_, left_;
};

std::vector<CpuSet> whole_packages_in_turn(const Machine& machine, const CpuSet& pool,
                                           std::size_t num_ranks) {
  const std::vector<CpuSet> packages = packages_of(machine, pool);
  std::vector<CpuSet> ranks;
  for (std::size_t rank = 0; rank < num_ranks; ++rank)
    ranks.push_back(packages[rank % packages.size()]);
  return ranks;
}

}  // namespace

const std::vector<PatternText>& all_patterns() {
  static const std::vector<PatternText> patterns = {
      {Pattern::kShare, "share",
       "disjoint parts of the tree, in proportion to the threads, cut between packages if "
       "possible"},
      {Pattern::kPacked, "packed",
       "ranks one after another along the tree, one package before the next: 0-3 / 4-7"},
      {Pattern::kAlternating, "alternating", "ranks on the packages in turn: 0,2,4,6 / 1,3,5,7"},
      {Pattern::kSwapped, "swapped",
       "as alternating from the last package on, there from the last core down: 1,3,5,7 / 0,2,4,6"},
      {Pattern::kPairs, "pairs",
       "two neighbours on a package, the next two on the next: 0,1,4,5 / 2,3,6,7"},
      {Pattern::kEnds, "ends", "as pairs, of the cores from both ends of a package"},
      {Pattern::kHalves, "halves", "as pairs, of cores that are half a package apart"},
      {Pattern::kSockets, "sockets",
       "as alternating, but each rank may use its whole package, with the others there"},
      {Pattern::kCores, "cores",
       "as alternating, with whole cores: their other hardware threads belong to the rank"},
      {Pattern::kThreads, "threads",
       "as alternating, with hardware threads: a core's before the next core's"},
      {Pattern::kRank, "rank", "cpus by their number in the operating system, whatever the tree"},
  };
  return patterns;
}

std::optional<Pattern> parse_pattern(std::string_view name) {
  for (const PatternText& text : all_patterns()) {
    if (name == text.name) return text.pattern;
  }
  return std::nullopt;
}

const char* pattern_name(Pattern pattern) {
  return std::find_if(all_patterns().begin(), all_patterns().end(),
                      [&](const PatternText& text) { return text.pattern == pattern; })
      ->name;
}

Result<std::vector<CpuSet>> place_ranks(Pattern pattern, const Machine& machine, const CpuSet& pool,
                                        const std::vector<std::uint32_t>& threads) {
  if (pattern == Pattern::kShare) return share_out(machine, pool, threads);
  if (!pool.intersects(machine.present)) return Error{"there is no cpu to place ranks on"};
  if (pattern == Pattern::kSockets) return whole_packages_in_turn(machine, pool, threads.size());
  if (threads.empty()) return std::vector<CpuSet>{};
  Supply supply(pattern, machine, pool, threads.front());
  const bool by_pairs =
      pattern == Pattern::kPairs || pattern == Pattern::kEnds || pattern == Pattern::kHalves;
  const std::size_t neighbours = by_pairs ? 2 : 1;
  std::vector<CpuSet> ranks;
  for (std::size_t rank = 0; rank < threads.size(); ++rank) {
    ranks.push_back(supply.take(rank / neighbours % supply.num_packages(), threads[rank]));
  }
  return ranks;
}

}  // namespace hierbar

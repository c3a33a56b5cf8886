// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decide.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "placement/share.hpp"

namespace hierbar {
namespace {

// The ranks by where their masks begin, in the order of the tree.
std::vector<std::size_t> order_by_mask(const Machine& machine, const std::vector<RankNeed>& ranks) {
  std::vector<std::ptrdiff_t> first_core(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto core = std::find_if(machine.units.begin(), machine.units.end(), [&](const Unit& unit) {
      return unit.children.empty() && unit.cpus.intersects(ranks[i].mask);
    });
    first_core[i] = core - machine.units.begin();
  }
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return first_core[a] < first_core[b]; });
  return order;
}

Decision cut(const Machine& machine, const Pool& pool, const std::vector<RankNeed>& ranks) {
  if (const std::optional<Veto> veto = veto_by_pool(pool, ranks)) return {{}, veto->text};
  const std::vector<std::size_t> order = order_by_mask(machine, ranks);
  std::vector<std::uint32_t> threads;
  for (const std::size_t rank : order) threads.push_back(ranks[rank].num_threads);
  const Result<std::vector<CpuSet>> shares = share_out(machine, pool.cpus, threads);
  if (!shares) return {{}, shares.error()};
  Decision decision{std::vector<CpuSet>(ranks.size()), pool.why};
  for (std::size_t i = 0; i < order.size(); ++i) decision.shares[order[i]] = (*shares)[i];
  return decision;
}

}  // namespace

Decision decide(const Machine& machine, const Pool& pool, const std::vector<RankNeed>& ranks) {
  if (const std::optional<Veto> veto = veto_by_need(machine, ranks)) return {{}, veto->text};
  return cut(machine, pool, ranks);
}

Decision decide_for_equals(const Machine& machine, const Pool& pool, std::uint32_t num_threads, std::uint32_t num_ranks) {
  return cut(machine, pool, std::vector<RankNeed>(num_ranks, {.mask = pool.cpus, .num_threads = num_threads}));
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decide.hpp"

#include <optional>

#include "placement/assign.hpp"
#include "placement/share.hpp"

namespace hierbar {
namespace {

Decision cut(const Machine& machine, const Pool& pool, const std::vector<RankNeed>& ranks) {
  if (const std::optional<Veto> veto = veto_by_pool(pool, ranks)) return {{}, veto->text, veto_name(veto->reason)};
  std::vector<std::uint32_t> threads;
  std::vector<CpuSet> homes;
  for (const RankNeed& rank : ranks) {
    threads.push_back(rank.num_threads);
    homes.push_back(rank.mask);
  }
  const Result<std::vector<CpuSet>> shares = share_out(machine, pool.cpus, threads);
  if (!shares) return {{}, shares.error(), "no-share"};
  return {assign_shares(*shares, threads, homes), pool.why};
}

}  // namespace

Decision decide(const Machine& machine, const Pool& pool, const std::vector<RankNeed>& ranks) {
  if (const std::optional<Veto> veto = veto_by_need(machine, ranks)) return {{}, veto->text, veto_name(veto->reason)};
  return cut(machine, pool, ranks);
}

Decision decide_for_equals(const Machine& machine, const Pool& pool, std::uint32_t num_threads, std::uint32_t num_ranks) {
  return cut(machine, pool, std::vector<RankNeed>(num_ranks, {.mask = pool.cpus, .num_threads = num_threads}));
}

}  // namespace hierbar

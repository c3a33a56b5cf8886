// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decision/decide.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "placement/evidence/place_setting.hpp"
#include "placement/share/share.hpp"

namespace hierbar {
namespace {

Decision cut(const Machine& machine, const CpuPool& pool, const std::vector<RankNeed>& ranks) {
  if (const std::optional<Veto> veto = veto_by_pool(pool, ranks))
    return {{}, veto->text, veto_name(veto->reason)};
  std::vector<std::uint32_t> threads;
  std::vector<CpuSet> homes;
  for (const RankNeed& rank : ranks) {
    threads.push_back(rank.num_threads);
    homes.push_back(rank.mask);
  }
  const Result<std::vector<CpuSet>> shares = share_out(machine, pool.cpus, threads);
  if (!shares) return {{}, shares.error(), "no-share"};
  Decision decision{assign_shares(*shares, threads, homes), pool.why};
  const bool is_limited = pool.capacity < pool.cpus.count();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    decision.team_sizes.push_back(is_limited ? threads[rank] : decision.shares[rank].count());
  }
  return decision;
}

}  // namespace

std::vector<RankNeed> settled_needs(const CpuPool& pool, std::vector<RankNeed> ranks) {
  const auto is_open = [](const RankNeed& rank) { return rank.num_threads == 0; };
  const auto num_open =
      static_cast<std::uint64_t>(std::count_if(ranks.begin(), ranks.end(), is_open));
  const auto num_taken = std::accumulate(
      ranks.begin(), ranks.end(), std::uint64_t{0},
      [](std::uint64_t sum, const RankNeed& rank) { return sum + rank.num_threads; });
  for (RankNeed& rank : ranks) {
    if (!is_open(rank)) continue;
    const std::uint64_t left = pool.capacity > num_taken ? pool.capacity - num_taken : 0;
    rank.num_threads = static_cast<std::uint32_t>(std::max<std::uint64_t>(left / num_open, 1));
  }
  return ranks;
}

Decision decide(const Machine& machine, const CpuPool& pool, const std::vector<RankNeed>& needs) {
  const std::vector<RankNeed> ranks = settled_needs(pool, needs);
  if (const std::optional<Veto> veto = veto_by_need(machine, ranks))
    return {{}, veto->text, veto_name(veto->reason)};
  return cut(machine, pool, ranks);
}

Decision decide_for_equals(const Machine& machine, const CpuPool& pool, std::uint32_t num_threads,
                           std::uint32_t num_ranks) {
  const std::vector<RankNeed> ranks(num_ranks, {.mask = pool.cpus, .num_threads = num_threads});
  return cut(machine, pool, settled_needs(pool, ranks));
}

namespace {

bool has_number(const RankAhead& rank) {
  return !value_of(rank.environment, "OMP_NUM_THREADS").empty();
}

// Why a rank would not take part; nothing if it would.
std::optional<std::string> objection_of(const RankAhead& rank, const PlaceSetting& setting) {
  if (value_of(rank.environment, "KMP_BARRIER") != "hier") return "KMP_BARRIER is not hier";
  if (setting.mode == PlaceMode::kCheck) return std::string(kPlaceVariable) + " is check";
  if (const std::optional<Veto> veto = veto_by_environment(setting, rank.environment))
    return veto->text;
  const BindingFacts state{
      .mask = rank.need.mask,
      .has_explicit_threads = has_number(rank) || setting.threads == TeamSize::kShare};
  if (const std::optional<Veto> veto = veto_by_binding(state)) return veto->text;
  return std::nullopt;
}

}  // namespace

Decision predict_shares(const Machine& machine, PoolEvidence evidence,
                        const std::vector<RankAhead>& ranks) {
  PoolChoice choice = PoolChoice::kAuto;
  std::vector<RankNeed> needs;
  evidence.ranks.emplace();
  for (const RankAhead& rank : ranks) {
    const Result<PlaceSetting> parsed =
        parse_place_setting(value_of(rank.environment, kPlaceVariable));
    // libomp does the same, and reports it.
    const PlaceSetting setting = parsed ? *parsed : PlaceSetting{};
    if (const std::optional<std::string> objection = objection_of(rank, setting))
      return {{}, *objection, "declined"};
    choice = setting.pool;
    needs.push_back({rank.need.mask, has_number(rank) ? rank.need.num_threads : 0});
    *evidence.ranks |= rank.need.mask;
  }
  const Result<CpuPool> pool = choose_pool(evidence, choice);
  return pool ? decide(machine, *pool, needs) : Decision{{}, pool.error(), "no-pool"};
}

}  // namespace hierbar

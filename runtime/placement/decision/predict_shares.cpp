// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decision/predict_shares.hpp"

#include <optional>
#include <string>

#include "placement/evidence/place_setting.hpp"

namespace hierbar {
namespace {

bool has_number(const RankAhead& rank) { return !value_of(rank.environment, "OMP_NUM_THREADS").empty(); }

// Why a rank would not take part; nothing if it would.
std::optional<std::string> objection_of(const RankAhead& rank, const PlaceSetting& setting) {
  if (value_of(rank.environment, "KMP_BARRIER") != "hier") return "KMP_BARRIER is not hier";
  if (setting.mode == PlaceMode::kCheck) return std::string(kPlaceVariable) + " is check";
  if (const std::optional<Veto> veto = veto_by_environment(setting, rank.environment)) return veto->text;
  const BindingFacts state{.mask = rank.need.mask,
                           .has_explicit_threads = has_number(rank) || setting.threads == TeamSize::kShare};
  if (const std::optional<Veto> veto = veto_by_binding(state)) return veto->text;
  return std::nullopt;
}

}  // namespace

Decision predict_shares(const Machine& machine, PoolEvidence evidence, const std::vector<RankAhead>& ranks) {
  PoolChoice choice = PoolChoice::kAuto;
  std::vector<RankNeed> needs;
  evidence.ranks.emplace();
  for (const RankAhead& rank : ranks) {
    const Result<PlaceSetting> parsed = parse_place_setting(value_of(rank.environment, kPlaceVariable));
    // libomp does the same, and reports it.
    const PlaceSetting setting = parsed ? *parsed : PlaceSetting{};
    if (const std::optional<std::string> objection = objection_of(rank, setting)) return {{}, *objection, "declined"};
    choice = setting.pool;
    needs.push_back({rank.need.mask, has_number(rank) ? rank.need.num_threads : 0});
    *evidence.ranks |= rank.need.mask;
  }
  const Result<CpuPool> pool = choose_pool(evidence, choice);
  return pool ? decide(machine, *pool, needs) : Decision{{}, pool.error(), "no-pool"};
}

}  // namespace hierbar

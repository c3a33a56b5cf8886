// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "barrier/barrier.hpp"
#include "barrier/baselines/combining_tree.hpp"
#include "barrier/baselines/dissemination.hpp"
#include "barrier/baselines/flat_tree.hpp"
#include "barrier/baselines/mcs.hpp"
#include "barrier/baselines/sense_reversing.hpp"
#include "barrier/baselines/topo.hpp"
#include "barrier/baselines/tournament.hpp"

// Every barrier algorithm of the project under one name and one way to use it: the engine, and the classic ones to compare it
// with, which only cross (no split phases, no payload bits).
namespace hierbar {

enum class Algorithm : std::uint8_t {
  kHier,  // the engine, Barrier
  kTopo,
  kSenseReversing,
  kSenseReversingCounter,
  kSenseReversingGr,
  kCombiningTree,
  kMcs,
  kTournamentTree,
  kTournamentFlag,
  kDissemination,
};

struct NamedAlgorithm {
  Algorithm algorithm;
  std::string_view name;
};

inline constexpr NamedAlgorithm kAlgorithms[] = {
    {Algorithm::kHier, "hier"},
    {Algorithm::kTopo, "topo"},
    {Algorithm::kSenseReversing, "sense-reversing"},
    {Algorithm::kSenseReversingCounter, "sense-reversing-counter"},
    {Algorithm::kSenseReversingGr, "sense-reversing-gr"},
    {Algorithm::kCombiningTree, "combining-tree"},
    {Algorithm::kMcs, "mcs"},
    {Algorithm::kTournamentTree, "tournament-tree"},
    {Algorithm::kTournamentFlag, "tournament-flag"},
    {Algorithm::kDissemination, "dissemination"},
};

// For messages about a bad name: all of kAlgorithms.
inline constexpr const char* kAllowedAlgorithms =
    "hier, topo, sense-reversing, sense-reversing-counter, sense-reversing-gr, combining-tree, mcs, tournament-tree, "
    "tournament-flag, dissemination";

constexpr std::string_view algorithm_name(Algorithm algorithm) noexcept {
  return kAlgorithms[static_cast<std::size_t>(algorithm)].name;
}

// Upper and lower case are the same. Empty when there is no such algorithm; see kAllowedAlgorithms.
constexpr std::optional<Algorithm> parse_algorithm(std::string_view text) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const NamedAlgorithm& candidate : kAlgorithms) {
    bool same = text.size() == candidate.name.size();
    for (std::size_t i = 0; same && i < text.size(); ++i) same = lower(text[i]) == candidate.name[i];
    if (same) return candidate.algorithm;
  }
  return std::nullopt;
}

// Calls visitor(BarrierType<B>{}) with the class B<Mem> of the algorithm and returns what it returns.
template <class B>
struct BarrierType {
  using type = B;
};

template <class Mem, class Visitor>
decltype(auto) visit_algorithm(Algorithm algorithm, Visitor&& visitor) {
  switch (algorithm) {
    case Algorithm::kTopo:
      return visitor(BarrierType<TopoBarrier<Mem>>{});
    case Algorithm::kSenseReversing:
      return visitor(BarrierType<SenseReversingBarrier<Mem>>{});
    case Algorithm::kSenseReversingCounter:
      return visitor(BarrierType<FlatTreeBarrier<Mem, FlatRelease::kSense>>{});
    case Algorithm::kSenseReversingGr:
      return visitor(BarrierType<FlatTreeBarrier<Mem, FlatRelease::kFlags>>{});
    case Algorithm::kCombiningTree:
      return visitor(BarrierType<CombiningTreeBarrier<Mem>>{});
    case Algorithm::kMcs:
      return visitor(BarrierType<McsBarrier<Mem>>{});
    case Algorithm::kTournamentTree:
      return visitor(BarrierType<TournamentBarrier<Mem, TournamentRelease::kTree>>{});
    case Algorithm::kTournamentFlag:
      return visitor(BarrierType<TournamentBarrier<Mem, TournamentRelease::kFlag>>{});
    case Algorithm::kDissemination:
      return visitor(BarrierType<DisseminationBarrier<Mem>>{});
    case Algorithm::kHier:
      break;
  }
  return visitor(BarrierType<Barrier<Mem>>{});
}

// The memory that a barrier of this algorithm needs: so many bytes, zero before the first use, aligned to plan.line_bytes.
template <class Mem>
std::size_t barrier_size_bytes(Algorithm algorithm, const hierbar_plan& plan) noexcept {
  return visit_algorithm<Mem>(algorithm, [&](auto type) { return decltype(type)::type::size_bytes(plan); });
}

// One whole episode of a barrier of any algorithm.
template <class Mem>
[[nodiscard]] WaitResult cross(const Barrier<Mem>& barrier, Mem& mem, std::uint32_t me) noexcept {
  return barrier.cross(mem, me, 0).result;
}
template <class B, class Mem>
[[nodiscard]] WaitResult cross(const B& baseline, Mem& mem, std::uint32_t me) noexcept {
  return baseline.cross(mem, me);
}

// The same by name, over `memory`, which all participants use with the same algorithm and equal plans.
//   hier    any plan
//   topo    any plan, but it is the paper's algorithm only with the plan that build_group_plan() makes from the paper's groups
//   others  any plan; they take from it the number of participants and where the lines lie
// Thread safety, progress: as Barrier.
template <class Mem>
[[nodiscard]] WaitResult cross(Algorithm algorithm, const hierbar_plan& plan, void* memory, Mem& mem, std::uint32_t me) noexcept {
  return visit_algorithm<Mem>(algorithm, [&](auto type) { return cross(typename decltype(type)::type(plan, memory), mem, me); });
}

}  // namespace hierbar

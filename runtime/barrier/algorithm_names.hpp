// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hierbar {

// The variable that names an algorithm for barriers of the C API, and for the ranks of a node.
inline constexpr const char* kAlgorithmVariable = "HIERBAR_ALGORITHM";

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

// The names of kAlgorithms, for messages about a bad name.
inline constexpr const char* kAllowedAlgorithms =
    "hier, topo, sense-reversing, sense-reversing-counter, sense-reversing-gr, combining-tree, mcs, tournament-tree, "
    "tournament-flag, dissemination";

constexpr std::string_view algorithm_name(Algorithm algorithm) noexcept {
  return kAlgorithms[static_cast<std::size_t>(algorithm)].name;
}

// The algorithm of that name, in upper or lower case. Empty if there is none.
constexpr std::optional<Algorithm> parse_algorithm(std::string_view text) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const NamedAlgorithm& candidate : kAlgorithms) {
    bool same = text.size() == candidate.name.size();
    for (std::size_t i = 0; same && i < text.size(); ++i) same = lower(text[i]) == candidate.name[i];
    if (same) return candidate.algorithm;
  }
  return std::nullopt;
}

}  // namespace hierbar

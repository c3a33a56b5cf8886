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

// The list of all algorithms, from which their names, numbers and classes follow:
//
//   X(enumerator, name, class)
//
// The class has the parameter Mem; who does not include it does not use the last part. A number in
// shared memory means an algorithm, so new ones come last.
#define HIERBAR_ALGORITHMS(X)                                                                     \
  X(kHier, "hier", Barrier<Mem>)                                                                  \
  X(kTopo, "topo", TopoBarrier<Mem>)                                                              \
  X(kSenseReversing, "sense-reversing", SenseReversingBarrier<Mem>)                               \
  X(kSenseReversingCounter, "sense-reversing-counter", FlatTreeBarrier<Mem, FlatRelease::kSense>) \
  X(kSenseReversingGr, "sense-reversing-gr", FlatTreeBarrier<Mem, FlatRelease::kFlags>)           \
  X(kCombiningTree, "combining-tree", CombiningTreeBarrier<Mem>)                                  \
  X(kMcs, "mcs", McsBarrier<Mem>)                                                                 \
  X(kTournamentTree, "tournament-tree", TournamentBarrier<Mem, TournamentRelease::kTree>)         \
  X(kTournamentFlag, "tournament-flag", TournamentBarrier<Mem, TournamentRelease::kFlag>)         \
  X(kDissemination, "dissemination", DisseminationBarrier<Mem>)

#define HIERBAR_ALGORITHM(enumerator, ...) enumerator,
enum class Algorithm : std::uint8_t { HIERBAR_ALGORITHMS(HIERBAR_ALGORITHM) };
#undef HIERBAR_ALGORITHM

struct NamedAlgorithm {
  Algorithm algorithm;
  std::string_view name;
};

#define HIERBAR_ALGORITHM(enumerator, name, ...) {Algorithm::enumerator, name},
inline constexpr NamedAlgorithm kAlgorithms[] = {HIERBAR_ALGORITHMS(HIERBAR_ALGORITHM)};
#undef HIERBAR_ALGORITHM

// "hier, topo, ...": all names, for messages about a bad one.
#define HIERBAR_ALGORITHM(enumerator, name, ...) ", " name
inline constexpr const char* kAllowedAlgorithms = &(HIERBAR_ALGORITHMS(HIERBAR_ALGORITHM))[2];
#undef HIERBAR_ALGORITHM

constexpr std::string_view algorithm_name(Algorithm algorithm) noexcept {
  return kAlgorithms[static_cast<std::size_t>(algorithm)].name;
}

// The algorithm of that name, in upper or lower case. Empty if there is none.
constexpr std::optional<Algorithm> parse_algorithm(std::string_view text) noexcept {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  for (const NamedAlgorithm& candidate : kAlgorithms) {
    bool same = text.size() == candidate.name.size();
    for (std::size_t i = 0; same && i < text.size(); ++i)
      same = lower(text[i]) == candidate.name[i];
    if (same) return candidate.algorithm;
  }
  return std::nullopt;
}

}  // namespace hierbar

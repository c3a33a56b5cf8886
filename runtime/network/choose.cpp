// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/choose.hpp"

#include <algorithm>

#include "network/formulas.hpp"

namespace hierbar::network {
namespace {

constexpr std::uint32_t kMostTreeK = 8;

// How many rounds n-way dissemination needs.
std::uint32_t num_rounds(std::uint32_t k, std::uint32_t size) {
  std::uint32_t count = 0;
  for (std::uint64_t reached = 1; reached < size; reached *= k + 1) ++count;
  return count;
}

// Times that differ by rounding only are equal.
bool is_clearly_less(double a, double b) { return a < b * (1 - 1e-9); }

}  // namespace

std::vector<Kind> candidates(std::uint32_t size) {
  std::vector<Kind> kinds{
      {Algorithm::kDissemination, 1}, {Algorithm::kRecursiveDoubling, 1}, {Algorithm::kLinear, 1}, {Algorithm::kDoubleRing, 1}};
  const std::uint32_t most_k = size < 2 ? 1 : std::min(size - 1, kMostK);
  for (std::uint32_t k = 2; k <= most_k; ++k) {
    const bool saves_a_round = num_rounds(k, size) < num_rounds(k - 1, size);
    if (k <= kMostTreeK || saves_a_round) kinds.push_back({Algorithm::kDissemination, k});
  }
  for (std::uint32_t k = 1; k <= std::min(most_k, kMostTreeK); ++k) kinds.push_back({Algorithm::kTree, k});
  for (std::uint32_t k = 2; k <= std::min(most_k + 1, kMostTreeK); ++k) kinds.push_back({Algorithm::kCombiningTree, k});
  return kinds;
}

std::vector<Ranked> choose(const std::vector<Kind>& kinds, std::uint32_t size, const Network& network) {
  std::vector<Ranked> ranked;
  for (const Kind kind : kinds) {
    ranked.push_back(
        {kind, formula_us(kind, network.parameters, size), evaluate_us(kind, size, network), num_messages(kind, size)});
  }
  // By time first. Then each run of equal times, seen from its first one, by messages: "equal
  // within rounding" is no order that a sort could use.
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.evaluated_us < b.evaluated_us; });
  for (auto first = ranked.begin(); first != ranked.end();) {
    const auto last = std::find_if(first, ranked.end(),
                                   [&](const Ranked& other) { return is_clearly_less(first->evaluated_us, other.evaluated_us); });
    std::stable_sort(first, last, [](const Ranked& a, const Ranked& b) { return a.num_messages < b.num_messages; });
    first = last;
  }
  return ranked;
}

}  // namespace hierbar::network

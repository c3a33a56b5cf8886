// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/formulas.hpp"

#include <algorithm>
#include <cmath>

namespace hierbar::network {
namespace {

double num_rounds(std::uint32_t k, std::uint32_t size) {
  if (k == 1) return std::log2(size);
  double count = 0;
  for (std::uint64_t reached = 1; reached < size; reached *= k + 1) ++count;
  return count;
}

}  // namespace

std::optional<double> formula_us(Kind kind, const Parameters& parameters, std::uint32_t size) {
  if (size < 2) return 0;
  const double one_way_us = parameters.send_overhead_us + parameters.latency_us + parameters.receive_overhead_us;
  const double f_r = std::max(parameters.receive_overhead_us, parameters.gap_us);
  const double f_s = std::max(parameters.send_overhead_us, parameters.gap_us);
  const double num_ranks = size;
  switch (kind.algorithm) {
    case Algorithm::kLinear:
      return 2 * one_way_us + (num_ranks - 2) * f_r + (num_ranks - 2) * f_s;
    case Algorithm::kCombiningTree: {
      const double n = kind.k;
      const double gather = (one_way_us + f_r * (n - 2)) * std::log2(num_ranks) / std::log2(n);
      return gather + one_way_us + (std::log2(num_ranks) - 1) * std::max(parameters.gap_us, one_way_us);
    }
    case Algorithm::kDissemination: {
      const double sends = std::min(kind.k, size - 1);
      return num_rounds(kind.k, size) * std::max({f_r, f_s, one_way_us + (sends - 1) * std::max(f_r, f_s)});
    }
    case Algorithm::kDoubleRing:
    case Algorithm::kRecursiveDoubling:
    case Algorithm::kTree:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace hierbar::network

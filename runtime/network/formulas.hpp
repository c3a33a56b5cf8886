// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>

#include "network/parameters.hpp"
#include "network/schedule.hpp"

namespace hierbar::network {

// The time of a barrier by the formulas of paper P2 (section V), in microseconds, with real
// logarithms as the paper plots them:
//
//   central          2 (o_s + L + o_r) + (P - 2) f_r + (P - 2) f_s
//   combining-tree   (o_s + L + f_r (n - 2) + o_r) log_n P + o_s + (log2 P - 1) t_s + L + o_r
//   dissemination:1  max(f_r, f_s, o_s + L + o_r) log2 P
//   dissemination:k  the same for k sends a round, which the paper does not have:
//                    ceil(log_(k+1) P) max(o_s + L + o_r + (k - 1) max(f_r, f_s), f_r, f_s)
//
// with f_r = max(o_r, g), f_s = max(o_s, g), t_s = max(g, o_s + L + o_r). Empty for algorithms of
// which the paper has no formula. 0 for one rank.
std::optional<double> formula_us(Kind kind, const Parameters& parameters, std::uint32_t size);

}  // namespace hierbar::network

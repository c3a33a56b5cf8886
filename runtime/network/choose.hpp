// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "network/parameters.hpp"
#include "network/schedule.hpp"

namespace hierbar::network {

// A network on which a schedule is to be evaluated or simulated.
struct Network {
  Parameters parameters;
  // The latency from one rank to another, in microseconds. Empty: the parameters' for every pair.
  std::function<double(std::uint32_t from, std::uint32_t to)> latency_us;

  double latency_between_us(std::uint32_t from, std::uint32_t to) const {
    return latency_us ? latency_us(from, to) : parameters.latency_us;
  }
};

// The exact time at which each rank ends a barrier that all enter at time 0, in microseconds, in
// the LogGP model:
//
// 1. A send keeps the cpu busy for o_s. Its message can be received L later.
// 2. A receive keeps the cpu busy for o_r. A rank that waits takes messages in the order in which
//    they come.
// 3. Two sends of a rank begin at least g apart, and so do two receives.
//
// It equals P2's formulas for the central counter, and for dissemination if the size is a power of
// two and g <= o_s + L + o_r. With a larger g the formula also counts the gap behind the last
// round, for which nobody waits.
//
// Requires a schedule without a deadlock, as all of rounds() are. Cost: O(n log k) for n messages.
std::vector<double> exits_us(Kind kind, std::uint32_t size, const Network& network);

// The latest of them; 0 for one rank.
double evaluate_us(Kind kind, std::uint32_t size, const Network& network);

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

// A schedule with what it is expected to cost.
struct Ranked {
  Kind kind;
  std::optional<double> formula_us;  // P2's; empty if the paper has none
  double evaluated_us = 0;
  std::uint64_t num_messages = 0;
};

// The schedules among which a choice is made for this many ranks: every algorithm, with each k that
// can be best. More sends in a round pay only if they save a round; so for dissemination, besides
// k = 1 to 8, these are the smallest k for each number of rounds. At most some 40.
std::vector<Kind> candidates(std::uint32_t size);

// Among more nodes to choose takes longer than a second or two.
inline constexpr std::uint32_t kMostChosenNodes = 16384;

// All of `kinds`, the best first: by evaluated time, and among equals the one with fewer messages,
// then the one that comes first in `kinds`.
std::vector<Ranked> choose(const std::vector<Kind>& kinds, std::uint32_t size,
                           const Network& network);

}  // namespace hierbar::network

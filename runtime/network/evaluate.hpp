// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
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

}  // namespace hierbar::network

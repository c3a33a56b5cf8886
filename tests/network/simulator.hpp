// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "network/choose.hpp"
#include "network/measure.hpp"

namespace hierbar::network::test {

struct NamedNetwork {
  const char* name;
  Parameters parameters;
};

// Paper P2's, section VI.
inline constexpr Parameters kPaper{125.6, 0.43, 123.8, 0.22, 0};

inline constexpr std::array<NamedNetwork, 4> kNetworks{
    {{"InfiniBand", {1.2, 0.3, 0.5, 0.2, 0}},
     {"TCP", {18, 3, 4, 1, 0}},
     {"WAN", {1000, 5, 8, 2, 0}},
     {"high receive overhead", {1.37, 0.43, 123.8, 0.22, 0}}}};

inline Network uniform(const Parameters& parameters) { return {parameters, {}}; }

}  // namespace hierbar::network::test

namespace hierbar::network {

// The steps of a schedule, with a stamp in front and behind.
Program barrier_program(Kind kind, std::uint32_t rank, std::uint32_t size);

// What the model leaves out.
struct Disturbance {
  double latency_tail =
      0;  // each latency is longer by an exponential part with this mean, as a share of it
  double overhead_spread = 0;  // each overhead is off by up to this share, either way
  double entry_spread_us = 0;  // each process starts up to this much late
  std::uint64_t seed = 1;
};

// Processes that run programs on a network, event by event in whole nanoseconds. It knows messages
// and their costs, but no schedules: it is the second opinion on evaluate_us(), which it equals,
// but for rounding, without a disturbance.
//
// Returns each process's stamps in microseconds. A program that waits for a message that nobody
// sends ends there and has fewer stamps.
std::vector<std::vector<double>> simulate(const std::vector<Program>& programs,
                                          const Network& network, const Disturbance& disturbance);

// The mean time of `num_barriers` separate barriers, each from the last entry to the last exit.
double simulate_barrier_us(Kind kind, std::uint32_t size, const Network& network,
                           Disturbance disturbance, std::uint32_t num_barriers);

}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/evaluate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "network/choose.hpp"
#include "network/formulas.hpp"
#include "networks.hpp"
#include "simulator.hpp"

namespace hierbar::network {
namespace {

std::vector<test::NamedNetwork> networks() {
  std::vector<test::NamedNetwork> all(test::kNetworks.begin(), test::kNetworks.end());
  all.push_back({"paper", test::kPaper});
  return all;
}

TEST(Evaluate, EqualsTheFormulaOfTheCentralCounter) {
  for (const auto& [name, parameters] : networks()) {
    for (std::uint32_t size = 2; size <= 130; ++size) {
      const Kind central{Algorithm::kLinear, 1};
      EXPECT_NEAR(evaluate_us(central, size, test::uniform(parameters)), *formula_us(central, parameters, size), 1e-6)
          << name << ' ' << size;
    }
  }
}

TEST(Evaluate, EqualsTheFormulaOfDisseminationAtPowersOfTwo) {
  for (const auto& [name, parameters] : networks()) {
    for (std::uint32_t size = 2; size <= 1024; size *= 2) {
      const Kind dissemination{Algorithm::kDissemination, 1};
      EXPECT_NEAR(evaluate_us(dissemination, size, test::uniform(parameters)), *formula_us(dissemination, parameters, size), 1e-6)
          << name << ' ' << size;
    }
  }
}

// The one difference that the header names: nobody waits for the gap behind the last round.
TEST(Evaluate, LeavesOutTheGapBehindTheLastRound) {
  const Parameters slow_gap{1, 1, 1, 10, 0};
  EXPECT_DOUBLE_EQ(evaluate_us({Algorithm::kDissemination, 1}, 8, test::uniform(slow_gap)), 10 + 10 + 3);
}

TEST(Evaluate, EqualsTheSimulator) {
  for (const auto& [name, parameters] : networks()) {
    for (const std::uint32_t size : {2U, 3U, 5U, 8U, 13U, 33U, 64U}) {
      Network network = test::uniform(parameters);
      for (const bool varied : {false, true}) {
        if (varied) network.latency_us = [&](std::uint32_t from, std::uint32_t to) { return 10 + (from * 7 + to * 3) % 11; };
        for (const Kind kind : candidates(size)) {
          EXPECT_NEAR(evaluate_us(kind, size, network), simulate_barrier_us(kind, size, network, {}, 1), 0.2)
              << name << ' ' << size << ' ' << name_of(kind);
        }
      }
    }
  }
}

TEST(Evaluate, ASlowPairDelaysThoseWhoDependOnIt) {
  Network network = test::uniform({1, 0, 0, 0, 0});
  network.latency_us = [](std::uint32_t from, std::uint32_t to) { return from == 2 && to == 0 ? 100.0 : 1.0; };
  const std::vector<double> exits = exits_us({Algorithm::kLinear, 1}, 4, network);
  EXPECT_EQ(exits, (std::vector<double>{100, 101, 101, 101}));
}

TEST(Evaluate, OneRankNeedsNoTime) { EXPECT_EQ(evaluate_us({Algorithm::kLinear, 1}, 1, test::uniform(test::kPaper)), 0); }

TEST(Simulator, AProcessThatWaitsForNobodysMessageStops) {
  const std::vector<Program> programs{{Step{}, {Step::Do::kReceive, {1}, 0, 0}, Step{}}, {Step{}}};
  const auto stamps = simulate(programs, test::uniform(test::kPaper), {});
  EXPECT_EQ(stamps[0].size(), 1U);
  EXPECT_EQ(stamps[1].size(), 1U);
}

TEST(Simulator, ASeedAlwaysGivesTheSameTimes) {
  const Disturbance noise{0.2, 0.1, 3, 7};
  const Network tcp = test::uniform(test::kNetworks[1].parameters);
  const double first = simulate_barrier_us({Algorithm::kTree, 2}, 33, tcp, noise, 3);
  EXPECT_EQ(first, simulate_barrier_us({Algorithm::kTree, 2}, 33, tcp, noise, 3));
  EXPECT_NE(first, simulate_barrier_us({Algorithm::kTree, 2}, 33, tcp, {0.2, 0.1, 3, 8}, 3));
}

}  // namespace
}  // namespace hierbar::network

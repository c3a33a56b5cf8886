// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "network/choose.hpp"
#include "network/parameters.hpp"
#include "tests/network/simulator.hpp"

namespace hierbar::network {
namespace {

using ::testing::HasSubstr;

TEST(Parameters, AreReadInAnyOrder) {
  const auto read = parse_parameters("g=0.22,o_r=123.8,L=125.6,o_s=.43,G=1e-3");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(*read, (Parameters{125.6, 0.43, 123.8, 0.22, 0.001}));
  EXPECT_EQ(describe(*read), "L 125.6, o_s 0.43, o_r 123.8, g 0.22 us, G 0.001 us/byte");
}

TEST(Parameters, TheGapPerByteMayBeLeftOut) {
  const auto read = parse_parameters("L=1,o_s=2,o_r=3,g=4");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->gap_per_byte_us, 0);
}

TEST(Parameters, AreRefusedWithTheReason) {
  const auto complaint = [](const char* text) {
    const auto read = parse_parameters(text);
    return read.ok() ? "" : read.error();
  };
  EXPECT_THAT(complaint(""), HasSubstr("'' is not a parameter"));
  EXPECT_THAT(complaint("L=1,o_s=2,o_r=3"), HasSubstr("'g' is missing"));
  EXPECT_THAT(complaint("L=1,L=1,o_s=2,o_r=3,g=1"), HasSubstr("'L' is given twice"));
  EXPECT_THAT(complaint("l=1,o_s=2,o_r=3,g=1"), HasSubstr("'l' is not a parameter"));
  EXPECT_THAT(complaint("L=1,o_s=2,o_r=3,g=1,"), HasSubstr("'' is not a parameter"));
  for (const char* value : {"", "-1", "nan", "inf", "1e10", "1 ", "0x1"}) {
    EXPECT_THAT(complaint((std::string("o_s=2,o_r=3,g=1,L=") + value).c_str()),
                HasSubstr("needs a number from 0 to 1e9"))
        << value;
  }
  EXPECT_THAT(complaint("L,o_s=2,o_r=3,g=1"), HasSubstr("'L' needs a number"));
}

std::vector<test::NamedNetwork> networks() {
  std::vector<test::NamedNetwork> all(test::kNetworks.begin(), test::kNetworks.end());
  all.push_back({"paper", test::kPaper});
  return all;
}

TEST(Evaluate, EqualsTheFormulaOfTheCentralCounter) {
  for (const auto& [name, parameters] : networks()) {
    for (std::uint32_t size = 2; size <= 130; ++size) {
      const Kind central{Algorithm::kLinear, 1};
      EXPECT_NEAR(evaluate_us(central, size, test::uniform(parameters)),
                  *formula_us(central, parameters, size), 1e-6)
          << name << ' ' << size;
    }
  }
}

TEST(Evaluate, EqualsTheFormulaOfDisseminationAtPowersOfTwo) {
  for (const auto& [name, parameters] : networks()) {
    for (std::uint32_t size = 2; size <= 1024; size *= 2) {
      const Kind dissemination{Algorithm::kDissemination, 1};
      EXPECT_NEAR(evaluate_us(dissemination, size, test::uniform(parameters)),
                  *formula_us(dissemination, parameters, size), 1e-6)
          << name << ' ' << size;
    }
  }
}

// The one difference that the header names: nobody waits for the gap behind the last round.
TEST(Evaluate, LeavesOutTheGapBehindTheLastRound) {
  const Parameters slow_gap{1, 1, 1, 10, 0};
  EXPECT_DOUBLE_EQ(evaluate_us({Algorithm::kDissemination, 1}, 8, test::uniform(slow_gap)),
                   10 + 10 + 3);
}

TEST(Evaluate, EqualsTheSimulator) {
  for (const auto& [name, parameters] : networks()) {
    for (const std::uint32_t size : {2U, 3U, 5U, 8U, 13U, 33U, 64U}) {
      Network network = test::uniform(parameters);
      for (const bool varied : {false, true}) {
        if (varied)
          network.latency_us = [&](std::uint32_t from, std::uint32_t to) {
            return 10 + (from * 7 + to * 3) % 11;
          };
        for (const Kind kind : candidates(size)) {
          EXPECT_NEAR(evaluate_us(kind, size, network),
                      simulate_barrier_us(kind, size, network, {}, 1), 0.2)
              << name << ' ' << size << ' ' << name_of(kind);
        }
      }
    }
  }
}

TEST(Evaluate, ASlowPairDelaysThoseWhoDependOnIt) {
  Network network = test::uniform({1, 0, 0, 0, 0});
  network.latency_us = [](std::uint32_t from, std::uint32_t to) {
    return from == 2 && to == 0 ? 100.0 : 1.0;
  };
  const std::vector<double> exits = exits_us({Algorithm::kLinear, 1}, 4, network);
  EXPECT_EQ(exits, (std::vector<double>{100, 101, 101, 101}));
}

TEST(Evaluate, OneRankNeedsNoTime) {
  EXPECT_EQ(evaluate_us({Algorithm::kLinear, 1}, 1, test::uniform(test::kPaper)), 0);
}

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

struct Golden {
  std::uint32_t size;
  double central_us, combining_tree_us, dissemination_us;
};

// Paper P2's formulas at its own parameters.
constexpr Golden kGolden[] = {{2, 499.66, 499.66, 249.83},      {4, 748.12, 999.32, 499.66},
                              {8, 1245.04, 1498.98, 749.49},    {16, 2238.88, 1998.64, 999.32},
                              {32, 4226.56, 2498.30, 1249.15},  {64, 8201.92, 2997.96, 1498.98},
                              {100, 12674.20, 3319.67, 1659.83}};

double us(Algorithm algorithm, std::uint32_t k, std::uint32_t size) {
  return formula_us({algorithm, k}, test::kPaper, size).value_or(-1);
}

TEST(Formulas, GiveThePapersTimes) {
  for (const Golden& golden : kGolden) {
    EXPECT_NEAR(us(Algorithm::kLinear, 1, golden.size), golden.central_us, 0.01) << golden.size;
    EXPECT_NEAR(us(Algorithm::kCombiningTree, 2, golden.size), golden.combining_tree_us, 0.01)
        << golden.size;
    EXPECT_NEAR(us(Algorithm::kDissemination, 1, golden.size), golden.dissemination_us, 0.01)
        << golden.size;
  }
  EXPECT_NEAR(us(Algorithm::kCombiningTree, 4, 16), 1994.18, 0.01);
  EXPECT_NEAR(us(Algorithm::kCombiningTree, 4, 64), 2991.27, 0.01);
}

// So the paper's shares of choices (dissemination 96 %, combining tree 3 %, central 1 %) cannot
// come from its formulas.
TEST(Formulas, ChooseDisseminationForEverySizeOfThePaper) {
  for (std::uint32_t size = 2; size <= 100; ++size) {
    const double dissemination = us(Algorithm::kDissemination, 1, size);
    EXPECT_LT(dissemination, us(Algorithm::kLinear, 1, size)) << size;
    for (std::uint32_t n = 2; n <= 8; ++n)
      EXPECT_LT(dissemination, us(Algorithm::kCombiningTree, n, size)) << size << ' ' << n;
  }
}

TEST(Formulas, KnowWhatMoreSendsInARoundSave) {
  const Parameters& tcp = test::kNetworks[1].parameters;
  EXPECT_DOUBLE_EQ(formula_us({Algorithm::kDissemination, 7}, tcp, 8).value_or(-1), 49);
  EXPECT_DOUBLE_EQ(formula_us({Algorithm::kDissemination, 7}, tcp, 64).value_or(-1), 98);
  const Parameters& wan = test::kNetworks[2].parameters;
  EXPECT_DOUBLE_EQ(formula_us({Algorithm::kDissemination, 63}, wan, 64).value_or(-1), 1509);
}

TEST(Formulas, HaveNothingForWhatThePaperDoesNotHave) {
  EXPECT_FALSE(formula_us({Algorithm::kTree, 2}, test::kPaper, 8).has_value());
  EXPECT_FALSE(formula_us({Algorithm::kDoubleRing, 1}, test::kPaper, 8).has_value());
  EXPECT_FALSE(formula_us({Algorithm::kRecursiveDoubling, 1}, test::kPaper, 8).has_value());
  EXPECT_EQ(formula_us({Algorithm::kLinear, 1}, test::kPaper, 1), 0);
}

}  // namespace
}  // namespace hierbar::network

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "network/formulas.hpp"

#include <gtest/gtest.h>

#include "networks.hpp"

namespace hierbar::network {
namespace {

struct Golden {
  std::uint32_t size;
  double central_us, combining_tree_us, dissemination_us;
};

// Paper P2's formulas at its own parameters.
constexpr Golden kGolden[] = {{2, 499.66, 499.66, 249.83},      {4, 748.12, 999.32, 499.66},     {8, 1245.04, 1498.98, 749.49},
                              {16, 2238.88, 1998.64, 999.32},   {32, 4226.56, 2498.30, 1249.15}, {64, 8201.92, 2997.96, 1498.98},
                              {100, 12674.20, 3319.67, 1659.83}};

double us(Algorithm algorithm, std::uint32_t k, std::uint32_t size) {
  return formula_us({algorithm, k}, test::kPaper, size).value_or(-1);
}

TEST(Formulas, GiveThePapersTimes) {
  for (const Golden& golden : kGolden) {
    EXPECT_NEAR(us(Algorithm::kLinear, 1, golden.size), golden.central_us, 0.01) << golden.size;
    EXPECT_NEAR(us(Algorithm::kCombiningTree, 2, golden.size), golden.combining_tree_us, 0.01) << golden.size;
    EXPECT_NEAR(us(Algorithm::kDissemination, 1, golden.size), golden.dissemination_us, 0.01) << golden.size;
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
    for (std::uint32_t n = 2; n <= 8; ++n) EXPECT_LT(dissemination, us(Algorithm::kCombiningTree, n, size)) << size << ' ' << n;
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

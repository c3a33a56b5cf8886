// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/variables.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace hierbar {
namespace {

std::string meant(const std::string& name) {
  const Variable* variable = misspelt_variable(name);
  return variable == nullptr ? "" : variable->name;
}

TEST(Variables, AreSortedByName) {
  const auto by_name = [](const Variable& a, const Variable& b) {
    return std::string(a.name) < b.name;
  };
  EXPECT_TRUE(std::is_sorted(std::begin(kVariables) + 1, std::end(kVariables), by_name));
}

TEST(Variables, KnownNamesAreNotMisspelt) {
  for (const Variable& variable : kVariables) EXPECT_EQ(meant(variable.name), "") << variable.name;
}

TEST(Variables, NamesThatAreNearlyRightAreFound) {
  EXPECT_EQ(meant("HIERBAR_LEVEL"), "HIERBAR_LEVELS");
  EXPECT_EQ(meant("HIERBAR_VERBSE"), "HIERBAR_VERBOSE");
  EXPECT_EQ(meant("HIERBAR_TIMEOUT"), "HIERBAR_TIMEOUT_S");
  EXPECT_EQ(meant("HIERBAR_REPROT"), "HIERBAR_REPORT");
  EXPECT_EQ(meant("HIERBAR_PLACES"), "HIERBAR_PLACE");
}

TEST(Variables, OfTheEnvironmentAreReported) {
  setenv("HIERBAR_LEVEL", "numa", 1);
  EXPECT_THAT(
      misspelt_variables(),
      testing::ElementsAre("there is no variable HIERBAR_LEVEL; did you mean HIERBAR_LEVELS? "
                           "'hierbar variables' lists all"));
  unsetenv("HIERBAR_LEVEL");
  EXPECT_THAT(misspelt_variables(), testing::IsEmpty());
}

TEST(Variables, NamesOfOthersAreLeftAlone) {
  for (const char* name : {"HIERBAR_ROOT", "HIERBAR_HOME", "HIERBAR_DIR", "HIERBAR_LIB", "HIERBAR_",
                           "HIERBAR", "OMP_PLACES", "HIERBAR_TEST_SEED"})
    EXPECT_EQ(meant(name), "") << name;
  EXPECT_EQ(meant("HIERBAR_" + std::string(5000, 'A')), "");
}

}  // namespace
}  // namespace hierbar

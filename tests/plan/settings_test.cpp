// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/settings.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/machines.hpp"
#include "tests/support/surroundings.hpp"

namespace hierbar {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Levels, EmptyAndAutoMeanAutomatic) {
  for (const char* text : {"", "  ", "auto", "AUTO", " Auto "}) {
    const auto levels = parse_levels(text);
    ASSERT_TRUE(levels.ok()) << text;
    EXPECT_THAT(*levels, IsEmpty()) << text;
  }
}

TEST(Levels, AreACommaListInAnyCaseEachOnce) {
  EXPECT_THAT(*parse_levels("numa"), ElementsAre(Level::kNuma));
  EXPECT_THAT(*parse_levels("l3,NUMA, package"),
              ElementsAre(Level::kL3, Level::kNuma, Level::kPackage));
  EXPECT_THAT(*parse_levels("cluster,l2,die"),
              ElementsAre(Level::kCluster, Level::kL2, Level::kDie));
  EXPECT_THAT(*parse_levels("numa,numa"), ElementsAre(Level::kNuma));
}

TEST(Levels, SocketIsAnotherWordForPackage) {
  EXPECT_THAT(*parse_levels("socket,package"), ElementsAre(Level::kPackage));
}

TEST(Levels, UnknownNamesAreNamed) {
  EXPECT_THAT(parse_levels("l9").error(), HasSubstr("'l9'"));
  EXPECT_THAT(parse_levels("numa,,package").error(), HasSubstr("''"));
  EXPECT_THAT(parse_levels("numa,").error(), HasSubstr("''"));
  EXPECT_THAT(parse_levels("numa,auto").error(), HasSubstr("'auto'"));
}

TEST(Levels, CoresAndTheMachineAreNoLevelsToGroupBy) {
  EXPECT_FALSE(parse_levels("core").ok());
  EXPECT_FALSE(parse_levels("machine").ok());
}

TEST(Levels, OnAMachineAreLowestFirstWhateverTheOrderGiven) {
  EXPECT_THAT(
      *levels_on_machine(test::make_kunpeng(), {Level::kPackage, Level::kCluster, Level::kNuma}),
      ElementsAre(Level::kCluster, Level::kNuma, Level::kPackage));
}

TEST(Levels, TheMachineDecidesWhatIsLower) {
  const Machine numa_in_l3 = test::make_machine(
      "SNC", {{Level::kPackage, 2}, {Level::kL3, 1}, {Level::kNuma, 4}, {Level::kCore, 8}});
  EXPECT_THAT(*levels_on_machine(numa_in_l3, {Level::kL3, Level::kNuma}),
              ElementsAre(Level::kNuma, Level::kL3));
}

TEST(Levels, OfLevelsWithTheSameUnitsTheHighestStays) {
  EXPECT_THAT(*levels_on_machine(test::make_kunpeng(), {Level::kL3, Level::kNuma}),
              ElementsAre(Level::kNuma));
  EXPECT_THAT(*levels_on_machine(test::make_kunpeng(), {Level::kL3}), ElementsAre(Level::kL3));
}

TEST(Levels, ALevelThatNoTwoCoresShareIsAnError) {
  EXPECT_THAT(levels_on_machine(test::make_kunpeng(), {Level::kNuma, Level::kDie}).error(),
              HasSubstr("die"));
  EXPECT_THAT(levels_on_machine(test::make_kunpeng(), {Level::kL2}).error(), HasSubstr("l2"));
  EXPECT_EQ(allowed_levels_on_machine(test::make_kunpeng()),
            "auto, or a comma list of cluster, l3, numa, package");
}

// base/variables.hpp cannot ask for them.
TEST(Levels, TheListOfVariablesNamesAllThatMayBeChosen) {
  const auto* const variable = std::find_if(
      std::begin(kVariables), std::end(kVariables),
      [](const Variable& known) { return known.name == std::string(kLevelsVariable); });
  ASSERT_NE(variable, std::end(kVariables));
  EXPECT_EQ(variable->values, "auto, or a list of " + nameable_levels());
}

TEST(Release, IsFlagsUnlessLinesAreWanted) {
  for (const char* text : {"", "auto", "flags", "Flags"})
    EXPECT_EQ(*parse_release(text), HIERBAR_RELEASE_FLAGS) << text;
  EXPECT_EQ(*parse_release("lines"), HIERBAR_RELEASE_LINES);
  EXPECT_FALSE(parse_release("line").ok());
}

TEST(PlanSettings, AreTheDefaultsWithoutAWordWhenNothingIsSet) {
  std::vector<std::string> problems;
  const PlanSettings settings = read_plan_settings(test::environment_of({}), problems);
  EXPECT_THAT(settings.levels, IsEmpty());
  EXPECT_EQ(settings.release, HIERBAR_RELEASE_FLAGS);
  EXPECT_FALSE(settings.release_is_chosen);
  EXPECT_THAT(problems, IsEmpty());
}

TEST(PlanSettings, GoodValuesAreUsed) {
  std::vector<std::string> problems;
  const PlanSettings settings = read_plan_settings(
      test::environment_of({{kLevelsVariable, "numa,l3"}, {kReleaseVariable, "lines"}}), problems);
  EXPECT_THAT(settings.levels, ElementsAre(Level::kNuma, Level::kL3));
  EXPECT_EQ(settings.release, HIERBAR_RELEASE_LINES);
  EXPECT_TRUE(settings.release_is_chosen);
  EXPECT_THAT(problems, IsEmpty());
}

TEST(PlanSettings, EachBadValueIsToldWithNameValueChoiceAndReplacement) {
  std::vector<std::string> problems;
  const PlanSettings settings = read_plan_settings(
      test::environment_of({{kLevelsVariable, "numa,l9"}, {kReleaseVariable, "bells"}}), problems);
  EXPECT_THAT(settings.levels, IsEmpty());
  EXPECT_EQ(settings.release, HIERBAR_RELEASE_FLAGS);
  EXPECT_THAT(
      problems,
      ElementsAre(AllOf(HasSubstr("HIERBAR_LEVELS"), HasSubstr("'numa,l9'"), HasSubstr("'l9'"),
                        HasSubstr(allowed_level_lists()), HasSubstr("used instead")),
                  AllOf(HasSubstr("HIERBAR_RELEASE"), HasSubstr("'bells'"),
                        HasSubstr(kAllowedReleases), HasSubstr("'flags' is used instead"))));
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/profile.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../../runtime/include/hierbar/hierbar.h"
#include "plan/locality.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/surroundings.hpp"

namespace hierbar {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kKunpengShape = "package 2, numa 4, l3 4, cluster 32, l2 128, core 128, cpu 128";

// A good profile of a Kunpeng: 8 leaders for the whole machine, nothing better for half of it.
std::string profile_text(const std::string& plans = R"([
    {"participants": 128, "cores": 128, "domains": 4, "shape": {"leaders": 8, "release": "lines"}},
    {"participants": 64, "cores": 64, "domains": 2, "shape": "default"}])",
                         const std::string& version = HIERBAR_VERSION_STRING,
                         const std::string& format = kProfileFormat) {
  return R"({"format": ")" + format + R"(", "hierbar": ")" + version +
         R"(", "machine": {"cpu": "2 x Kunpeng 920", "shape": ")" + kKunpengShape +
         R"("}, "plans": )" + plans + "}";
}

std::vector<LocalityPath> paths_on_kunpeng(std::uint32_t num_participants,
                                           Mapping mapping = Mapping::kCore) {
  return locate_all(test::make_kunpeng(),
                    *map_participants(test::make_kunpeng(), mapping, num_participants));
}

TEST(Profile, KnowsItsMachineAndItsPlans) {
  const auto profile = parse_profile(profile_text());
  ASSERT_TRUE(profile.ok()) << profile.error();
  EXPECT_EQ(profile->machine, identity_of(test::make_kunpeng()));
  ASSERT_EQ(profile->plans.size(), 2U);
  EXPECT_EQ(profile->plans[0].team, (TeamSpread{128, 128, 4}));
  EXPECT_EQ(profile->plans[0].num_leaders, 8U);
  EXPECT_EQ(profile->plans[0].release, HIERBAR_RELEASE_LINES);
  EXPECT_TRUE(profile->plans[1].is_default());
}

struct Broken {
  const char* name;
  std::string text;
  const char* complaint;
};
class BrokenProfiles : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenProfiles, AreRefusedWithTheReason) {
  const auto profile = parse_profile(GetParam().text);
  ASSERT_FALSE(profile.ok());
  EXPECT_THAT(profile.error(), HasSubstr(GetParam().complaint));
}

std::string with_plan(const std::string& plan) { return profile_text("[" + plan + "]"); }
const std::string kTeam = R"({"participants": 8, "cores": 8, "domains": 1)";

INSTANTIATE_TEST_SUITE_P(
    All, BrokenProfiles,
    ::testing::Values(
        Broken{"Empty", "", "not JSON"},
        Broken{"CutOff", profile_text().substr(0, 200), "not JSON"},
        Broken{"NoObject", "[1]", "not JSON"}, Broken{"NoProfile", "{}", "its format is ''"},
        Broken{"OtherFormat", profile_text("[]", HIERBAR_VERSION_STRING, "hierbar-profile-9"),
               "hierbar-profile-9"},
        Broken{"OtherVersion", profile_text("[]", "0.0.7"), "hierbar '0.0.7'"},
        Broken{"NoPlans", profile_text("7"), "'plans'"},
        Broken{"PlanIsANumber", with_plan("7"), "'plans'[0]"},
        Broken{"NoTeam", with_plan("{}"), "participants, cores and domains"},
        Broken{"NegativeTeam",
               with_plan(R"({"participants": -8, "cores": 8, "domains": 1, "shape": "default"})"),
               "participants, cores and domains"},
        Broken{"HugeTeam", with_plan(R"({"participants": 4294967304, "cores": 8, "domains": 1})"),
               "participants, cores and domains"},
        Broken{"NoShape", with_plan(kTeam + "}"), "needs shape"},
        Broken{"UnknownShape", with_plan(kTeam + R"(, "shape": "round"})"), "needs shape"},
        Broken{"TooManyLeaders",
               with_plan(kTeam + R"(, "shape": {"leaders": 9, "release": "flags"}})"), "leaders"},
        Broken{"NoLeaders", with_plan(kTeam + R"(, "shape": {"leaders": 0, "release": "flags"}})"),
               "leaders"},
        Broken{"NoRelease", with_plan(kTeam + R"(, "shape": {"leaders": 2}})"), "release"},
        Broken{"UnknownRelease",
               with_plan(kTeam + R"(, "shape": {"leaders": 2, "release": "bells"}})"), "release"}),
    [](const auto& param_info) { return param_info.param.name; });

// A directory for one test's files, and variables that name it.
class ProfileFile : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hierbar_profile_XXXXXX";
    directory_ = mkdtemp(name);
    variables_["XDG_CONFIG_HOME"] = directory_;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::optional<Profile> read(bool other_machine) {
    return read_profile(test::environment_of(variables_), other_machine, problems_);
  }

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(directory_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }

  std::string directory_;
  test::Variables variables_;
  std::vector<std::string> problems_;
};

TEST_F(ProfileFile, NoneIsNoProblem) {
  EXPECT_FALSE(read(false));
  variables_.erase("XDG_CONFIG_HOME");
  variables_["HOME"] = directory_ + "/nowhere";
  EXPECT_FALSE(read(false));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(ProfileFile, IsFoundWhereTuneWritesIt) {
  const std::string path = write("hierbar/profile.json", profile_text());
  EXPECT_EQ(default_profile_path(test::environment_of(variables_)), path);
  const auto profile = read(false);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->path, path);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(ProfileFile, IsNotLookedAtForAnotherMachineUnlessNamed) {
  const std::string path = write("hierbar/profile.json", profile_text());
  EXPECT_FALSE(read(true));
  variables_[kProfileVariable] = path;
  EXPECT_TRUE(read(true));
}

TEST_F(ProfileFile, OffWinsOverAFile) {
  write("hierbar/profile.json", "broken");
  variables_[kProfileVariable] = "OFF";
  EXPECT_FALSE(read(false));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(ProfileFile, ARelativeConfigurationDirectoryIsIgnored) {
  variables_["XDG_CONFIG_HOME"] = "here";
  variables_["HOME"] = "/home/a";
  EXPECT_EQ(default_profile_path(test::environment_of(variables_)),
            "/home/a/.config/hierbar/profile.json");
}

TEST_F(ProfileFile, WhatCannotBeReadIsToldInOneLineWithFileAndReason) {
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::pair<std::string, const char*> bad[] = {
      {directory_ + "/absent", "No such file"},
      {directory_, "not a regular file"},
      {fifo, "not a regular file"},
      {"/dev/zero", "not a regular file"},
      {write("large", std::string(kMaxProfileBytes + 1, ' ')), "larger than 256 KiB"},
      {write("broken", "{\"format\""), "not JSON"}};
  for (const auto& [path, reason] : bad) {
    variables_[kProfileVariable] = path;
    problems_.clear();
    EXPECT_FALSE(read(false));
    EXPECT_THAT(problems_,
                ElementsAre(AllOf(HasSubstr("'" + path + "'"), HasSubstr(reason),
                                  HasSubstr("hierbar tune"), HasSubstr("HIERBAR_PROFILE=off"))));
  }
}

TEST_F(ProfileFile, ABrokenOneAtTheUsualPlaceIsToldToo) {
  write("hierbar/profile.json", profile_text("[]", "0.0.7"));
  EXPECT_FALSE(read(false));
  EXPECT_THAT(problems_,
              ElementsAre(AllOf(HasSubstr("/hierbar/profile.json' ignored"), HasSubstr("0.0.7"))));
}

TEST(ForeignProfile, IsOneOfAnotherModelOrAnotherShape) {
  Profile profile = *parse_profile(profile_text());
  profile.path = "/p.json";
  EXPECT_THAT(foreign_profile(profile, test::make_kunpeng()), IsEmpty());
  EXPECT_THAT(foreign_profile(profile, test::make_hybrid()),
              AllOf(HasSubstr("'/p.json' ignored"), HasSubstr("Kunpeng"), HasSubstr("hybrid 6+8"),
                    HasSubstr("cpu 20")));
  Machine half = test::make_machine("2 x Kunpeng 920",
                                    {{Level::kPackage, 1}, {Level::kNuma, 2}, {Level::kCore, 32}});
  EXPECT_THAT(foreign_profile(profile, half), HasSubstr("another machine"));
}

TEST(TeamSpread, CountsCoresAndDomains) {
  EXPECT_EQ(spread_of(test::make_kunpeng(), paths_on_kunpeng(8)), (TeamSpread{8, 8, 1}));
  EXPECT_EQ(spread_of(test::make_kunpeng(), paths_on_kunpeng(8, Mapping::kNuma)),
            (TeamSpread{8, 8, 4}));
  EXPECT_EQ(spread_of(test::make_kunpeng(), paths_on_kunpeng(256)), (TeamSpread{256, 128, 4}));
  EXPECT_EQ(spread_of(test::make_kunpeng(), paths_on_kunpeng(8, Mapping::kNone)),
            (TeamSpread{8, 0, 0}));
}

ShapeOptions applied(std::uint32_t num_participants, Mapping mapping,
                     const PlanSettings& settings = {}) {
  ShapeOptions options{.release = settings.release};
  apply_profile(*parse_profile(profile_text()), test::make_kunpeng(),
                paths_on_kunpeng(num_participants, mapping), settings, options);
  return options;
}

TEST(ApplyProfile, ShapesTheTeamsThatWereMeasured) {
  const ShapeOptions options = applied(128, Mapping::kNuma);
  EXPECT_TRUE(options.is_tuned);
  const EnginePlan plan = *build_engine_plan(paths_on_kunpeng(128), test::make_kunpeng(), options);
  EXPECT_THAT(plan.leaders, ElementsAre(0, 16, 32, 48, 64, 80, 96, 112));
  EXPECT_EQ(plan.view().release, HIERBAR_RELEASE_LINES);
  EXPECT_EQ(plan.view().is_tuned, 1U);
}

TEST(ApplyProfile, LeavesAllOthersAsTheyAre) {
  EXPECT_FALSE(applied(64, Mapping::kCore).is_tuned) << "nothing better was found";
  EXPECT_FALSE(applied(127, Mapping::kCore).is_tuned);
  EXPECT_FALSE(applied(128, Mapping::kNone).is_tuned) << "nobody knows where they run";
}

TEST(ApplyProfile, SettingsWin) {
  PlanSettings levels;
  levels.levels = {Level::kNuma};
  EXPECT_FALSE(applied(128, Mapping::kCore, levels).is_tuned);
  PlanSettings flags;
  flags.release_is_chosen = true;
  const ShapeOptions options = applied(128, Mapping::kCore, flags);
  EXPECT_EQ(options.num_leaders, 8U);
  EXPECT_EQ(options.release, HIERBAR_RELEASE_FLAGS);
}

TEST(Profile, ComplainsBrieflyAboutLongTexts) {
  const std::string text(100'000, 'x');
  for (const std::string& profile :
       {profile_text("[]", text), profile_text("[]", HIERBAR_VERSION_STRING, text),
        R"({"format": ")" + std::string(kProfileFormat) + R"(", "hierbar": ")" +
            HIERBAR_VERSION_STRING + R"(", "machine": {"cpu": ")" + text +
            R"(", "shape": "cpu 1"}, "plans": []})"}) {
    const Result<Profile> parsed = parse_profile(profile);
    ASSERT_FALSE(parsed.ok());
    EXPECT_LT(parsed.error().size(), 500U);
  }
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "mpi/between/trial.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SettingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"HIERBAR_MPI", "HIERBAR_VERBOSE", "HIERBAR_FAKE_NODES",
                             "HIERBAR_TIMEOUT_S", "HIERBAR_SEGMENT_KIB", "HIERBAR_MPI_SET_UP_AT",
                             "HIERBAR_ALGORITHM", "HIERBAR_SESSIONS"}) {
      unsetenv(name);
    }
  }
  void TearDown() override { SetUp(); }
};

TEST_F(SettingsTest, NothingSetAndEmptyValuesAreTheDefaults) {
  setenv("HIERBAR_MPI", "", 1);
  setenv("HIERBAR_FAKE_NODES", "", 1);
  const ShimSettings settings = read_settings();
  EXPECT_EQ(settings.served, Served::kBarriers);
  EXPECT_FALSE(settings.verbose);
  EXPECT_EQ(settings.num_fake_nodes, 1);
  EXPECT_EQ(settings.timeout_ns, 0);
  EXPECT_EQ(settings.segment_kib, 0);
  EXPECT_EQ(settings.set_up_at, 8U);
  EXPECT_THAT(settings.problems, IsEmpty());
}

TEST_F(SettingsTest, GoodValuesAreTaken) {
  setenv("HIERBAR_MPI", "off", 1);
  setenv("HIERBAR_VERBOSE", "1", 1);
  setenv("HIERBAR_FAKE_NODES", "1024", 1);
  setenv("HIERBAR_TIMEOUT_S", "1000000", 1);
  setenv("HIERBAR_SEGMENT_KIB", "4", 1);
  setenv("HIERBAR_MPI_SET_UP_AT", "1000000", 1);
  setenv("HIERBAR_SESSIONS", "shared", 1);
  const ShimSettings settings = read_settings();
  EXPECT_EQ(settings.served, Served::kNothing);
  EXPECT_TRUE(settings.verbose);
  EXPECT_EQ(settings.num_fake_nodes, 1024);
  EXPECT_EQ(settings.timeout_ns, 1'000'000'000'000'000);
  EXPECT_EQ(settings.segment_kib, 4);
  EXPECT_EQ(settings.set_up_at, 1'000'000U);
  EXPECT_THAT(settings.problems, IsEmpty());
}

TEST_F(SettingsTest, WhatIsServedHasThreeNamesAndTheOldOneOfTheDefault) {
  for (const auto& [value, served] :
       {std::pair{"barrier", Served::kBarriers}, std::pair{"on", Served::kBarriers},
        std::pair{"collectives", Served::kCollectives}, std::pair{"off", Served::kNothing}}) {
    setenv("HIERBAR_MPI", value, 1);
    const ShimSettings settings = read_settings();
    EXPECT_EQ(settings.served, served) << value;
    EXPECT_THAT(settings.problems, IsEmpty()) << value;
    EXPECT_EQ(settings.serves_barriers(), served != Served::kNothing);
    EXPECT_EQ(settings.serves_collectives(), served == Served::kCollectives);
  }
}

TEST_F(SettingsTest, AnyAlgorithmMayBeChosenAndAnUnknownOneIsReported) {
  EXPECT_EQ(read_settings().algorithm, Algorithm::kHier);
  for (const NamedAlgorithm& named : kAlgorithms) {
    setenv("HIERBAR_ALGORITHM", std::string(named.name).c_str(), 1);
    EXPECT_EQ(read_settings().algorithm, named.algorithm) << named.name;
    EXPECT_THAT(read_settings().problems, IsEmpty());
  }
  setenv("HIERBAR_ALGORITHM", "butterfly", 1);
  EXPECT_EQ(read_settings().algorithm, Algorithm::kHier);
  EXPECT_THAT(read_settings().problems,
              ElementsAre(::testing::AllOf(::testing::HasSubstr("HIERBAR_ALGORITHM: 'butterfly'"),
                                           ::testing::HasSubstr("allowed: hier, topo, "))));
}

TEST_F(SettingsTest, EveryBadValueIsToldWithItsDefault) {
  setenv("HIERBAR_MPI", "ON", 1);
  setenv("HIERBAR_SESSIONS", "one", 1);
  setenv("HIERBAR_FAKE_NODES", "3 nodes", 1);
  setenv("HIERBAR_TIMEOUT_S", "99999999999999999999", 1);
  setenv("HIERBAR_MPI_SET_UP_AT", "0", 1);
  const ShimSettings settings = read_settings();
  EXPECT_EQ(settings.served, Served::kBarriers);
  EXPECT_EQ(settings.num_fake_nodes, 1);
  EXPECT_EQ(settings.timeout_ns, 0);
  EXPECT_EQ(settings.set_up_at, 8U);
  EXPECT_THAT(
      settings.problems,
      ElementsAre(
          "HIERBAR_MPI: 'ON': not understood; allowed: barrier, collectives, off; barrier used "
          "instead",
          "HIERBAR_SESSIONS: 'one': not understood; allowed: own, shared; own used instead",
          "HIERBAR_FAKE_NODES: '3 nodes': not a whole number; allowed: 1 to 1024; 1 used instead",
          "HIERBAR_TIMEOUT_S: '99999999999999999999': out of range; allowed: 0 to 1000000; 0 "
          "(never) used instead",
          "HIERBAR_MPI_SET_UP_AT: '0': out of range; allowed: 1 to 1000000; 8 used instead"));
}

// ---- HIERBAR_MPI_MEETING ----

using Mode = MeetingSetting::Mode;

MeetingSetting read(const char* value, std::vector<std::string>& problems) {
  setenv(kMeetingVariable, value, 1);
  const MeetingSetting setting = read_meeting_setting(problems);
  unsetenv(kMeetingVariable);
  return setting;
}

TEST(MeetingSetting, GoodValuesAreTakenAndSurviveTheirCode) {
  std::vector<std::string> problems;
  for (const char* value : {"library", "auto", "linear", "double-ring", "tree:255",
                            "combining-tree:4", "dissemination:63"}) {
    const MeetingSetting setting = read(value, problems);
    EXPECT_EQ(name_of(setting), value);
    EXPECT_EQ(name_of(MeetingSetting::from_code(setting.code())), value);
  }
  EXPECT_EQ(name_of(read(" Bruck ", problems)), "dissemination:1");
  EXPECT_EQ(read("", problems).mode, Mode::kLibrary);
  EXPECT_EQ(read_meeting_setting(problems).code(), 0U);
  EXPECT_THAT(problems, IsEmpty());
}

TEST(MeetingSetting, ABadValueIsReportedAndTheLibraryIsUsed) {
  std::vector<std::string> problems;
  EXPECT_EQ(read("tree:0", problems).mode, Mode::kLibrary);
  EXPECT_THAT(problems,
              ElementsAre(AllOf(HasSubstr("HIERBAR_MPI_MEETING"), HasSubstr("tree:0"),
                                HasSubstr("1 to 255"), HasSubstr("library, auto, linear"))));
}

TEST(Shortlist, ATrialHasThreeSchedulesAndAChoiceHasOne) {
  setenv("HIERBAR_NETWORK", "off", 1);
  const Shortlist& trial = shortlist_for({Mode::kAuto, {}}, 17, "a library");
  EXPECT_EQ(trial.kinds.size(), kMostShortlisted);
  EXPECT_THAT(trial.source, HasSubstr("assumed costs"));
  EXPECT_EQ(&trial, &shortlist_for({Mode::kAuto, {}}, 17, "a library"));
  EXPECT_EQ(
      shortlist_for({Mode::kFixed, {network::Algorithm::kTree, 3}}, 18, "a library").kinds.size(),
      1U);
  EXPECT_THAT(shortlist_for({}, 19, "a library").kinds, IsEmpty());
  unsetenv("HIERBAR_NETWORK");
}

}  // namespace
}  // namespace hierbar::mpi

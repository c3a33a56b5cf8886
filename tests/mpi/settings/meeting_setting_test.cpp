// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/settings/meeting_setting.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "mpi/between/shortlist.hpp"

namespace hierbar::mpi {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Mode = MeetingSetting::Mode;

MeetingSetting read(const char* value, std::vector<std::string>& problems) {
  setenv(kMeetingVariable, value, 1);
  const MeetingSetting setting = read_meeting_setting(problems);
  unsetenv(kMeetingVariable);
  return setting;
}

TEST(MeetingSetting, GoodValuesAreTakenAndSurviveTheirCode) {
  std::vector<std::string> problems;
  for (const char* value : {"library", "auto", "linear", "double-ring", "tree:255", "combining-tree:4", "dissemination:63"}) {
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
  EXPECT_THAT(problems, ElementsAre(AllOf(HasSubstr("HIERBAR_MPI_MEETING"), HasSubstr("tree:0"), HasSubstr("1 to 255"),
                                          HasSubstr("library, auto, linear"))));
}

TEST(Shortlist, ATrialHasThreeSchedulesAndAChoiceHasOne) {
  setenv("HIERBAR_NETWORK", "off", 1);
  const Shortlist& trial = shortlist_for({Mode::kAuto, {}}, 17, "a library");
  EXPECT_EQ(trial.kinds.size(), kMostShortlisted);
  EXPECT_THAT(trial.source, HasSubstr("assumed costs"));
  EXPECT_EQ(&trial, &shortlist_for({Mode::kAuto, {}}, 17, "a library"));
  EXPECT_EQ(shortlist_for({Mode::kFixed, {network::Algorithm::kTree, 3}}, 18, "a library").kinds.size(), 1U);
  EXPECT_THAT(shortlist_for({}, 19, "a library").kinds, IsEmpty());
  unsetenv("HIERBAR_NETWORK");
}

}  // namespace
}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/place_setting.hpp"

#include <gmock/gmock.h>

namespace hierbar {
namespace {

std::string problem(const char* text) {
  const Result<PlaceSetting> setting = parse_place_setting(text);
  return setting ? "none" : setting.error();
}

TEST(PlaceSetting, TakesAModeAPoolOrBoth) {
  const auto parsed = [](const char* text) { return *parse_place_setting(text); };
  EXPECT_EQ(parsed("off").mode, PlaceMode::kOff);
  EXPECT_EQ(parsed("check").mode, PlaceMode::kCheck);
  EXPECT_EQ(parsed("auto"), PlaceSetting());
  EXPECT_EQ(parsed("pool=cpuset"), (PlaceSetting{PlaceMode::kAuto, PoolChoice::kCpuset}));
  EXPECT_EQ(parsed("check,pool=union"), (PlaceSetting{PlaceMode::kCheck, PoolChoice::kUnion}));
  EXPECT_EQ(parsed("pool=auto , Check"), (PlaceSetting{PlaceMode::kCheck, PoolChoice::kAuto}));
  EXPECT_EQ(parsed(" POOL=Grant "), (PlaceSetting{PlaceMode::kAuto, PoolChoice::kGrant}));
}

TEST(PlaceSetting, TakesWhereTeamSizesComeFrom) {
  EXPECT_EQ(parse_place_setting("auto,threads=share")->threads, TeamSize::kShare);
  EXPECT_EQ(*parse_place_setting("Threads=Share,pool=union , check"),
            (PlaceSetting{PlaceMode::kCheck, PoolChoice::kUnion, TeamSize::kShare}));
  EXPECT_EQ(*parse_place_setting("threads=keep"), PlaceSetting());
  for (const char* value : {"threads=keep", "threads=share"})
    EXPECT_THAT(kAllowedPlaceSettings, testing::HasSubstr(value));
}

TEST(PlaceSetting, EmptyMeansAuto) {
  EXPECT_EQ(*parse_place_setting(""), PlaceSetting());
  EXPECT_EQ(*parse_place_setting("  "), PlaceSetting());
}

TEST(PlaceSetting, SaysWhatIsWrong) {
  EXPECT_EQ(problem("of"), "unknown word 'of'");
  EXPECT_EQ(problem("off,"), "unknown word ''");
  EXPECT_EQ(problem("pool"), "unknown word 'pool'");
  EXPECT_EQ(problem("pool="), "unknown pool ''");
  EXPECT_EQ(problem("pool=all"), "unknown pool 'all'");
  EXPECT_EQ(problem("off,auto"), "two modes");
  EXPECT_EQ(problem("auto,auto"), "two modes");
  EXPECT_EQ(problem("pool=union,pool=grant"), "two pools");
  EXPECT_EQ(problem("threads=8"), "unknown number of threads '8'");
  EXPECT_EQ(problem("threads"), "unknown word 'threads'");
  EXPECT_EQ(problem("threads=keep,threads=share"), "two numbers of threads");
  EXPECT_EQ(problem("quota=2"), "unknown use of quotas '2'");
  EXPECT_EQ(problem("quota=off,quota=auto"), "two uses of quotas");
}

TEST(PlaceSetting, SaysWhetherQuotasCount) {
  EXPECT_EQ(parse_place_setting("")->quota, QuotaUse::kAuto);
  EXPECT_EQ(parse_place_setting("quota=off")->quota, QuotaUse::kOff);
  EXPECT_EQ(parse_place_setting("check,Quota=OFF,threads=share")->quota, QuotaUse::kOff);
}

TEST(PlaceSetting, NamesItsPools) {
  for (const PoolChoice choice :
       {PoolChoice::kAuto, PoolChoice::kUnion, PoolChoice::kGrant, PoolChoice::kCpuset}) {
    const std::string value = std::string("pool=") + pool_choice_name(choice);
    EXPECT_EQ(parse_place_setting(value)->pool, choice);
    EXPECT_THAT(kAllowedPlaceSettings, testing::HasSubstr(value));
  }
}

}  // namespace
}  // namespace hierbar

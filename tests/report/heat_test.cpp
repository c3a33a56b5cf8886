// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report/format/lstopo.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace hierbar::report {
namespace {

void set_cpus(SiteReport& site, const std::vector<std::string>& cpus) {
  site.threads.clear();
  for (std::uint32_t i = 0; i < cpus.size(); ++i) site.threads[i].cpus = cpus[i];
}

// Four threads on two cpus each; 0 gathers from 1, 2 from 3.
Report four_threads() {
  Report report;
  SiteReport& site = report.sites.emplace_back();
  site.team_size = 4;
  set_cpus(site, {"0-1", "2-3", "8-9", "10-11"});
  site.span.add(500);
  return report;
}

TEST(Heat, IsOfTheWholeTeamWhereLevelsAreNotKnown) {
  const std::vector<HeatSpot> spots = find_heat(four_threads());
  ASSERT_EQ(spots.size(), 1U);
  EXPECT_EQ(spots[0].cpus.to_string(), "0-3,8-11");
  EXPECT_EQ(spots[0].what, "barrier");
  EXPECT_EQ(spots[0].sum_ns, 500U);
}

TEST(Heat, IsOfEachGroupAtItsLevel) {
  Report report = four_threads();
  LevelTimes& levels = report.sites[0].levels;
  levels.groups = Shape(1, {0, 0, 2, 2}).levels;
  levels.gather.resize(1);
  levels.gather[0].add(30);
  levels.release.resize(1);
  levels.exchange.add(200);
  levels.exchange.add(100);
  levels.outside.add(1);
  report.sites.push_back(report.sites[0]);
  report.sites.push_back(four_threads().sites[0]);  // without levels
  const std::vector<HeatSpot> spots = find_heat(report);
  ASSERT_EQ(spots.size(), 3U) << "nothing was on the way down";
  const auto at = [&](const char* cpus) {
    return *std::find_if(spots.begin(), spots.end(),
                         [&](const HeatSpot& spot) { return spot.cpus.to_string() == cpus; });
  };
  EXPECT_EQ(at("0-3").what, "gather");
  EXPECT_EQ(at("0-3").sum_ns, 60U) << "both sites";
  EXPECT_EQ(at("8-11").what, "gather");
  EXPECT_EQ(at("0-1,8-9").what, "exchange") << "the leaders";
  EXPECT_EQ(at("0-1,8-9").count, 4U);
}

TEST(Heat, IsNowhereWhenNobodyKnowsWhereThreadsAre) {
  for (const std::vector<std::string>& cpus :
       {std::vector<std::string>{}, {"0", "1", "", "3"}, {"0", "1", "no list", "3"}}) {
    Report report = four_threads();
    set_cpus(report.sites[0], cpus);
    EXPECT_TRUE(find_heat(report).empty());
  }
}

TEST(Heat, OfATeamThatAFileSaysIsHugeTakesNoMemory) {
  Report report = four_threads();
  report.sites[0].team_size = 0xFFFF'FFFF;
  EXPECT_TRUE(find_heat(report).empty());
}

}  // namespace
}  // namespace hierbar::report

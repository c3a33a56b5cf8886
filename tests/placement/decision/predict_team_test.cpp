// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/decision/predict_team.hpp"

#include <gmock/gmock.h>

#include <map>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

// 8 cpus, of which 2i and 2i + 1 are core i's.
TeamShape team(const char* mask, const Variables& variables) {
  using enum Level;
  const Machine machine = test::make_machine("8 cpus", {{kPackage, 2}, {kCore, 2}}, 2);
  return predict_team(machine, cpus(mask), [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::vector<std::string> threads(const TeamShape& team) {
  std::vector<std::string> texts;
  for (const CpuSet& set : team.cpus) texts.push_back(set.to_string());
  return texts;
}

TEST(Forecast, GivesAThreadForEachCpuUnlessToldOtherwise) {
  EXPECT_THAT(threads(team("0-2", {})), ElementsAre("0-2", "0-2", "0-2"));
  EXPECT_THAT(threads(team("0-2", {{"OMP_NUM_THREADS", "2,4"}})), ElementsAre("0-2", "0-2"));
  EXPECT_FALSE(team("0-2", {}).is_bound);
}

TEST(Forecast, BindsWhereTheVariablesSay) {
  EXPECT_THAT(threads(team("0-7", {{"OMP_NUM_THREADS", "2"}, {"OMP_PLACES", "cores"}})),
              ElementsAre("0-1", "4-5"));
  EXPECT_THAT(threads(team("0-7", {{"OMP_NUM_THREADS", "2"}, {"OMP_PROC_BIND", "Close"}})),
              ElementsAre("0-1", "2-3"));
  EXPECT_THAT(threads(team("2-7", {{"OMP_NUM_THREADS", "2"}, {"OMP_PLACES", "sockets(2)"}})),
              ElementsAre("2-3", "4-7"));
  EXPECT_THAT(threads(team("0-3", {{"OMP_NUM_THREADS", "2"},
                                   {"OMP_PROC_BIND", "primary"},
                                   {"OMP_PLACES", "threads"}})),
              ElementsAre("0", "0"));
  EXPECT_FALSE(team("0-7", {{"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "false"}}).is_bound);
}

TEST(Forecast, LeavesOutPlacesThatTheProcessMayNotUse) {
  const TeamShape result =
      team("4-7", {{"OMP_NUM_THREADS", "2"}, {"OMP_PLACES", "{0,1},{4},{5,99}"}});
  EXPECT_THAT(threads(result), ElementsAre("4", "5"));
  EXPECT_EQ(result.foreign.to_string(), "0-1,99");
  EXPECT_FALSE(team("4-7", {{"OMP_PLACES", "{0}"}}).is_bound);
}

TEST(Forecast, SaysWhatItDoesNotUnderstand) {
  const TeamShape result = team("0-1", {{"OMP_PLACES", "{0},!{1}"}});
  EXPECT_FALSE(result.is_bound);
  EXPECT_THAT(result.problem, HasSubstr("OMP_PLACES: '{0},!{1}' is not a list of places"));
}

TEST(Places, AreParsedWithLengthsAndStrides) {
  const auto places = [](const char* text) {
    const Result<std::vector<CpuSet>> parsed = parse_places(text);
    if (!parsed) return std::vector<std::string>{"error"};
    std::vector<std::string> texts;
    for (const CpuSet& place : *parsed) texts.push_back(place.to_string());
    return texts;
  };
  EXPECT_THAT(places("{0,1}, {4 , 6}"), ElementsAre("0-1", "4,6"));
  EXPECT_THAT(places("{0:4}:3:8"), ElementsAre("0-3", "8-11", "16-19"));
  EXPECT_THAT(places("{0:2}:2"), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(places("{0:2:8}"), ElementsAre("0,8"));
  EXPECT_THAT(places("{2}:2:-1"), ElementsAre("2", "1"));
  for (const char* bad :
       {"", "{}", "{0", "0}", "{0}:0", "{0}:2:-1", "{0},", "{-1}", "{0}x", "{0:999999999}"}) {
    EXPECT_THAT(places(bad), ElementsAre("error")) << bad;
  }
}

// A mistyped number must not take memory or time, whatever stands beside it.
TEST(ParsePlaces, RefusesWhatNoMachineHas) {
  for (const char* bad :
       {"{0:3:9223372036854775807}", "{0}:3:9223372036854775807", "{9}:2:-9223372036854775808",
        "{8192}", "{8191}:65536:0", "{0:8000}:150:1", "{0}:9000:0"}) {
    EXPECT_FALSE(parse_places(bad).ok()) << bad;
  }
  EXPECT_TRUE(parse_places("{0:8192}:1").ok());
  EXPECT_TRUE(parse_places("{0}:8192").ok());
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans whose shape a profile of the machine gives.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/service/planned_lines.hpp"

namespace {

using hierbar::test::append_line;
using hierbar::test::by_numa_node;
using hierbar::test::in_new_process;
using hierbar::test::kKunpeng;
using hierbar::test::Lines;
using hierbar::test::plan_into;
using hierbar::test::Variables;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The path of a profile of kKunpeng that gives 14 participants on 14 cores of 4 domains 2 leaders.
std::string written_profile(const std::string& name, const std::string& text) {
  std::string path = "plan_service_" + std::to_string(getpid()) + name;
  std::ofstream(path) << text;
  return path;
}
const std::string kProfile =
    R"({"format": "hierbar-profile-1", "hierbar": ")" HIERBAR_VERSION_STRING R"(", "machine": {"cpu": ")" +
    std::string(kKunpeng) + R"(", "shape": "package 2, die 4, numa 4, l3 4, cluster 32, l2 128, core 128, cpu 128"}, "plans": )" +
    R"([{"participants": 14, "cores": 14, "domains": 4, "shape": {"leaders": 2, "release": "lines"}}]})";

TEST(PlanService, AProfileOfTheMachineShapesThePlanAndSaysSo) {
  const std::string path = written_profile("good.json", kProfile);
  const Lines lines = in_new_process({{"HIERBAR_TOPOLOGY", kKunpeng}, {"HIERBAR_PROFILE", path}}, [](Lines& result) {
    plan_into(result, 14, by_numa_node().data());
    plan_into(result, 13, by_numa_node().data());
    hierbar_describe_machine(append_line, &result);
    const hierbar_plan* plan = nullptr;
    hierbar_plan_create(14, by_numa_node().data(), append_line, &result, &plan);
    hierbar_describe_plan(plan, append_line, &result);
    hierbar_plan_destroy(plan);
  });
  unlink(path.c_str());
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[0], "leaders: 0 2, lines");
  EXPECT_EQ(lines[1], "leaders: 0 1 2 3") << "not a team that was measured";
  EXPECT_THAT(lines, ::testing::Contains("profile " + path + ": measured shapes for teams of 14"));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("from the profile of this machine")));
}

TEST(PlanService, AStaleOrBrokenProfileIsToldOnceAndIgnored) {
  const std::string stale = written_profile("stale.json", kProfile);
  EXPECT_THAT(in_new_process({{"HIERBAR_TOPOLOGY", "l3:2 core:8 pu:1"}, {"HIERBAR_PROFILE", stale}},
                             [](Lines& lines) {
                               lines.push_back("bad: " + std::to_string(hierbar_check_settings(append_line, &lines)));
                               plan_into(lines, 5);
                               plan_into(lines, 14);
                               hierbar_describe_machine(append_line, &lines);
                               lines.resize(4);
                             }),
              ElementsAre("bad: 0", AllOf(HasSubstr(stale), HasSubstr("another machine")), "leaders: 0 1 2 3 4",
                          HasSubstr("leaders: 0 1")));
  unlink(stale.c_str());
  EXPECT_THAT(in_new_process({{"HIERBAR_PROFILE", "/nowhere/profile.json"}},
                             [](Lines& lines) {
                               lines.push_back("bad: " + std::to_string(hierbar_check_settings(append_line, &lines)));
                               plan_into(lines, 5);
                             }),
              ElementsAre(AllOf(HasSubstr("/nowhere/profile.json"), HasSubstr("No such file")), "bad: 1", "leaders: 0 1 2 3 4"));
}

TEST(PlanService, SettingsWinOverTheProfileAndOffLeavesItOut) {
  const std::string path = written_profile("settings.json", kProfile);
  const auto planned_with = [&](const Variables& more) {
    Variables variables = {{"HIERBAR_TOPOLOGY", kKunpeng}, {"HIERBAR_PROFILE", path}};
    for (const auto& [name, value] : more) variables[name] = value;
    return in_new_process(variables, [](Lines& lines) { plan_into(lines, 14, by_numa_node().data()); });
  };
  EXPECT_THAT(planned_with({{"HIERBAR_RELEASE", "auto"}}), ElementsAre("leaders: 0 2, lines"));
  EXPECT_THAT(planned_with({{"HIERBAR_RELEASE", "flags"}}), ElementsAre("leaders: 0 2"));
  EXPECT_THAT(planned_with({{"HIERBAR_LEVELS", "numa"}}), ElementsAre("leaders: 0 1 2 3"));
  EXPECT_THAT(planned_with({{"HIERBAR_PROFILE", "off"}}), ElementsAre("leaders: 0 1 2 3"));
  unlink(path.c_str());
}

}  // namespace

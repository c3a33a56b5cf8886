// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kOnKunpeng = " --topology 'pack:2 die:2 [numa] l3:1 group:8 l2:4 core:1 pu:1'";

test::CommandResult plan(const std::string& arguments, const std::string& variables = "") {
  return test::run_hierbar("plan " + arguments,
                           "-u HIERBAR_LEVELS -u HIERBAR_RELEASE " + variables);
}

nlohmann::json plan_json(const std::string& arguments) {
  const test::CommandResult result = plan(arguments + " --json");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return nlohmann::json::parse(result.output, nullptr, false);
}

std::vector<std::vector<int>> groups_of(const nlohmann::json& level) {
  std::vector<std::vector<int>> groups;
  for (const nlohmann::json& group : level.at("groups"))
    groups.push_back(group.at("members").get<std::vector<int>>());
  return groups;
}

TEST(PlanCommand, PrintsThePapersGroupsOf128ParticipantsMappedByCore) {
  const test::CommandResult result = plan("--participants 128 --map core" + kOnKunpeng);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(
      result.output,
      AllOf(HasSubstr("paper: 3 levels of groups"),
            HasSubstr("G1  numa     {0..31}, {32..63}, {64..95}, {96..127}\n"),
            HasSubstr("G2  package  {0,32}, {64,96}\n"), HasSubstr("G3  top      {0,64}\n")));
  EXPECT_THAT(result.output, AllOf(HasSubstr("engine: 128 participants, depth 3 line transfers"),
                                   HasSubstr("{0,16,32,48,64,80,96,112}")));
}

TEST(PlanCommand, PrintsThePapersGroupsOf14ParticipantsMappedByNumaNodeAsJson) {
  const nlohmann::json json =
      plan_json("--participants 14 --map numa --levels numa,package" + kOnKunpeng);
  const nlohmann::json& levels = json.at("paper").at("levels");
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(levels[0].at("name"), "G1");
  EXPECT_EQ(levels[0].at("level"), "numa");
  EXPECT_THAT(groups_of(levels[0]), ElementsAre(ElementsAre(0, 4, 8, 12), ElementsAre(1, 5, 9, 13),
                                                ElementsAre(2, 6, 10), ElementsAre(3, 7, 11)));
  EXPECT_THAT(groups_of(levels[1]), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(groups_of(levels[2]), ElementsAre(ElementsAre(0, 2)));
  EXPECT_EQ(levels[2].at("groups")[0].at("leader"), 0);
}

TEST(PlanCommand, JsonHasTheWholeEnginePlan) {
  const nlohmann::json engine =
      plan_json("--participants 14 --map numa --release lines" + kOnKunpeng).at("engine");
  EXPECT_EQ(engine.at("leaders"), nlohmann::json({0, 1, 2, 3}));
  EXPECT_EQ(engine.at("depth"), 3);
  EXPECT_EQ(engine.at("release"), "lines");
  EXPECT_EQ(engine.at("arities").at("exchange"), 4);
  EXPECT_EQ(engine.at("participants").size(), 14U);
  EXPECT_EQ(engine.at("participants")[13].at("parent"), 1);
  EXPECT_EQ(engine.at("participants")[1].at("children"), nlohmann::json({5, 9, 13}));
}

TEST(PlanCommand, LevelsChooseThePapersVariantAndTheEnginesDomain) {
  const nlohmann::json json = plan_json("--participants 128 --levels package" + kOnKunpeng);
  EXPECT_EQ(json.at("paper").at("levels").size(), 2U);
  EXPECT_EQ(json.at("engine").at("leaders"),
            nlohmann::json({0, 32, 64, 96}));  // halves of packages: more than 32 in each
}

TEST(PlanCommand, LevelsComeFromTheVariableUnlessTheOptionSaysOtherwise) {
  EXPECT_THAT(plan("--participants 8" + kOnKunpeng, "HIERBAR_LEVELS=package").output,
              HasSubstr("G1  package"));
  EXPECT_THAT(plan("--participants 8 --levels numa" + kOnKunpeng, "HIERBAR_LEVELS=package").output,
              AllOf(HasSubstr("G1  numa"), HasSubstr("G2  top")));
  EXPECT_THAT(plan("--participants 8 --levels auto" + kOnKunpeng, "HIERBAR_LEVELS=package").output,
              AllOf(HasSubstr("G1  numa"), HasSubstr("G2  package")));
}

TEST(PlanCommand, SaysThatThePapersAlgorithmStepsAsideWithoutBinding) {
  const test::CommandResult result = plan("--participants 20 --map none" + kOnKunpeng);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, AllOf(HasSubstr("paper: no groups: participant 0 is not bound"),
                                   HasSubstr("leaders  {0,5,10,15}")));
}

TEST(PlanCommand, BadVariablesAreWarningsAndTheDefaultIsUsed) {
  const test::CommandResult result =
      plan("--participants 8" + kOnKunpeng, "HIERBAR_LEVELS=l9 HIERBAR_RELEASE=bells");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("HIERBAR_LEVELS: 'l9'"), HasSubstr("HIERBAR_RELEASE: 'bells'")));
  EXPECT_EQ(result.output, plan("--participants 8" + kOnKunpeng).output);
}

TEST(PlanCommand, AVariableWithALevelThatTheMachineLacksIsAWarning) {
  const test::CommandResult result =
      plan("--participants 8 --topology 'core:8 pu:1'", "HIERBAR_LEVELS=l3");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("HIERBAR_LEVELS: 'l3'"), HasSubstr("allowed"),
                                   HasSubstr("used instead")));
}

struct BadOption {
  const char* name;
  const char* arguments;
  const char* option;
  const char* value;
};

class BadOptions : public ::testing::TestWithParam<BadOption> {};

TEST_P(BadOptions, AreNamedWithTheirValueAndWhatIsAllowed) {
  const test::CommandResult result = plan(GetParam().arguments + kOnKunpeng);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.output, IsEmpty());
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr(GetParam().option),
                    HasSubstr(std::string("'") + GetParam().value + "'"), HasSubstr("allowed: ")));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadOptions,
    ::testing::Values(
        BadOption{"NoParticipants", "--participants 0", "--participants", "0"},
        BadOption{"NegativeParticipants", "--participants=-3", "--participants", "-3"},
        BadOption{"TooManyParticipants", "--participants 1048577", "--participants", "1048577"},
        BadOption{"HugeNumber", "--participants 99999999999999999999", "--participants",
                  "99999999999999999999"},
        BadOption{"NoNumber", "--participants 4x", "--participants", "4x"},
        BadOption{"Map", "--participants 4 --map cores", "--map", "cores"},
        BadOption{"UnknownLevel", "--participants 4 --levels numa,l9", "--levels", "numa,l9"},
        BadOption{"AbsentLevel", "--participants 4 --levels l2", "--levels", "l2"},
        BadOption{"Release", "--participants 4 --release bells", "--release", "bells"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(PlanCommand, NeedsTheNumberOfParticipants) {
  const test::CommandResult result = plan(kOnKunpeng);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("--participants"));
}

TEST(PlanCommand, RefusesAnUnreadableTopology) {
  const test::CommandResult result = plan("--participants 4 --topology /nowhere/node.xml");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("--topology"), HasSubstr("/nowhere/node.xml"), HasSubstr("allowed")));
}

TEST(PlanCommand, TakesAMillionParticipants) {
  EXPECT_EQ(plan("--participants 1048576 --map none" + kOnKunpeng).exit_code, 0);
}

// A node's part, and the meeting of the nodes' leaders.
TEST(PlanCommand, ShowsTheBarrierOverSeveralNodes) {
  const std::string of_nodes =
      "--participants 250 --nodes 16 --parameters L=18,o_s=3,o_r=4,g=1" + kOnKunpeng;
  EXPECT_THAT(
      plan(of_nodes).output,
      AllOf(
          HasSubstr("250 participants on 16 nodes, at most 16 on each: "),
          HasSubstr("engine: 16 participants"),
          HasSubstr("meeting of 16 leaders: dissemination:3, 96 messages, 66.00 us by the model\n"),
          HasSubstr("\n    1    to {2,3,4} from {0,15,14}; to {5,9,13} from {13,9,5}\n"),
          HasSubstr("whole barrier: 2 line transfers to the node's leader, 66.00 us between nodes, "
                    "2 line transfers back\n")));
  const nlohmann::json meeting = plan_json(of_nodes + " --meeting tree:1").at("meeting");
  EXPECT_EQ(meeting.at("name"), "tree:1");
  EXPECT_EQ(meeting.at("num_messages"), 30);
  ASSERT_EQ(meeting.at("leaders").size(), 16U);
  EXPECT_EQ(meeting.at("leaders")[3],
            nlohmann::json::parse(R"([{"send_to": [2], "receive_from": []},
                                                               {"send_to": [], "receive_from": [2]}])"));
}

TEST(PlanCommand, WithoutMeasuredCostsTheMeetingSaysThatTheyAreAssumed) {
  EXPECT_THAT(plan("--participants 8 --nodes 2" + kOnKunpeng, "HIERBAR_NETWORK=off").output,
              HasSubstr("assumed, because nothing was measured"));
}

TEST(PlanCommand, RefusesNodesAndMeetingsWithTheReason) {
  const auto errors = [](const std::string& arguments) {
    const test::CommandResult result = plan(arguments + kOnKunpeng);
    EXPECT_NE(result.exit_code, 0) << arguments;
    return result.errors;
  };
  EXPECT_THAT(errors("--participants 8 --nodes 1"),
              HasSubstr("--nodes: '1': no such number of nodes; allowed: 2 to 16384"));
  EXPECT_THAT(
      errors("--participants 3 --nodes 4"),
      HasSubstr("--participants: '3': no such number of participants; allowed: 4 to 1048576"));
  EXPECT_THAT(errors("--participants 8 --nodes 2 --meeting ring"),
              AllOf(HasSubstr("--meeting: 'ring': "), HasSubstr("allowed: auto, linear, ")));
  EXPECT_THAT(errors("--participants 8 --meeting bruck"), HasSubstr("requires --nodes"));
  EXPECT_THAT(errors("--participants 8 --parameters L=1"), HasSubstr("requires --nodes"));
}

}  // namespace
}  // namespace hierbar

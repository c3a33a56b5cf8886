// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kPaper = "--parameters L=125.6,o_s=0.43,o_r=123.8,g=0.22 ";

double us_of(const json& size, const std::string& name, const char* column) {
  for (const json& meeting : size["meetings"]) {
    if (meeting["name"] == name) return meeting[column].get<double>();
  }
  return -1;
}

TEST(MeetCommand, GivesThePapersTimes) {
  const auto result = test::run_hierbar("meet -n 2,4,8,16,32,64,100 " + kPaper +
                                        "--algorithms linear,combining-tree:2,combining-tree:4,dissemination:1 --json");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json root = json::parse(result.output);
  const double golden[][3] = {{499.66, 499.66, 249.83},    {748.12, 999.32, 499.66},    {1245.04, 1498.98, 749.49},
                              {2238.88, 1998.64, 999.32},  {4226.56, 2498.30, 1249.15}, {8201.92, 2997.96, 1498.98},
                              {12674.20, 3319.67, 1659.83}};
  ASSERT_EQ(root["sizes"].size(), std::size(golden));
  for (std::size_t i = 0; i < std::size(golden); ++i) {
    const json& size = root["sizes"][i];
    EXPECT_NEAR(us_of(size, "linear", "formula_us"), golden[i][0], 0.01);
    EXPECT_NEAR(us_of(size, "combining-tree:2", "formula_us"), golden[i][1], 0.01);
    EXPECT_NEAR(us_of(size, "dissemination:1", "formula_us"), golden[i][2], 0.01);
    EXPECT_EQ(size["choice"], "dissemination:1");
  }
  EXPECT_NEAR(us_of(root["sizes"][3], "combining-tree:4", "formula_us"), 1994.18, 0.01);
  EXPECT_NEAR(us_of(root["sizes"][5], "combining-tree:4", "formula_us"), 2991.27, 0.01);
}

TEST(MeetCommand, PrintsATableWithUnitsAndTheChoice) {
  const auto result = test::run_hierbar("meet -n 64 " + kPaper);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("L 125.6, o_s 0.43, o_r 123.8, g 0.22 us"), HasSubstr("formula, us"),
                                   HasSubstr("> dissemination:3"), HasSubstr("1498.98")));
}

TEST(MeetCommand, MarksTypicalNetworks) {
  const auto text = test::run_hierbar("meet -n 16 --network infiniband-hdr");
  ASSERT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("from typical infiniband-hdr, not measured here"), HasSubstr("typical, not measured: ")));
  EXPECT_EQ(json::parse(test::run_hierbar("meet -n 16 --network infiniband-hdr --json").output)["typical"], "infiniband-hdr");
  EXPECT_TRUE(json::parse(test::run_hierbar("meet -n 16 --json " + kPaper).output)["typical"].is_null());
  EXPECT_THAT(test::run_hierbar("plan -n 4 --nodes 4 --network ethernet-10g-tcp").output, HasSubstr("typical, not measured: "));
}

TEST(MeetCommand, RefusesWithTheReason) {
  const auto errors = [](const std::string& arguments) {
    const auto result = test::run_hierbar("meet " + arguments, "HIERBAR_NETWORK=off");
    EXPECT_EQ(result.exit_code, 2) << arguments;
    return result.errors;
  };
  EXPECT_THAT(errors("-n 1 " + kPaper), HasSubstr("'1' is no such number of nodes; allowed: a comma list of 2 to 16384"));
  EXPECT_THAT(errors("-n 2,x " + kPaper), HasSubstr("'x' is no such number of nodes"));
  EXPECT_THAT(errors("-n 4 --parameters L=1"),
              AllOf(HasSubstr("--parameters: 'L=1'"), HasSubstr("'o_s' is missing"), HasSubstr("allowed")));
  EXPECT_THAT(errors("-n 4 --algorithms ring " + kPaper), HasSubstr("'ring' is no known algorithm"));
  EXPECT_THAT(errors("-n 4 --network /nowhere"), HasSubstr("--network: '/nowhere': No such file"));
  EXPECT_THAT(errors("-n 4 --network x " + kPaper), HasSubstr("excludes"));
  EXPECT_THAT(errors("-n 4"), HasSubstr("no network is known"));
}

}  // namespace
}  // namespace hierbar

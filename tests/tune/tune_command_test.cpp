// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TuneCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hierbar_tune_XXXXXX";
    directory_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  test::CommandResult tune(const std::string& arguments, const std::string& variables = "") const {
    return test::run_hierbar("tune " + arguments, "-u HIERBAR_PROFILE XDG_CONFIG_HOME='" +
                                                      directory_ + "' " + variables);
  }
  std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_), {}));
  }

  std::string directory_;
};

nlohmann::json file_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file, nullptr, false);
}

TEST_F(TuneCommand, WritesAProfileThatPlansOfThisMachineUse) {
  const test::CommandResult result = tune("--time-limit 3");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const std::string path = directory_ + "/hierbar/profile.json";
  EXPECT_THAT(result.output, AllOf(HasSubstr("one way"), HasSubstr("profile written: " + path)));
  const nlohmann::json profile = file_json(path);
  EXPECT_EQ(profile.value("format", ""), "hierbar-profile-1");
  EXPECT_THAT(profile.at("plans"), Not(IsEmpty()));

  const test::CommandResult plan = test::run_hierbar(
      "plan --participants 8", "-u HIERBAR_PROFILE XDG_CONFIG_HOME='" + directory_ + "'");
  EXPECT_THAT(plan.errors, IsEmpty()) << "neither stale nor broken";
  EXPECT_THAT(plan.output, HasSubstr("profile " + path));
}

TEST_F(TuneCommand, MeasuresTheTeamsAskedForAndPrintsJson) {
  const std::string path = directory_ + "/here.json";
  const test::CommandResult result =
      tune("--participants 6,2 --time-limit 2 --json --quiet --output " + path);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, IsEmpty());
  const nlohmann::json profile = nlohmann::json::parse(result.output, nullptr, false);
  EXPECT_EQ(profile, file_json(path));
  ASSERT_EQ(profile.at("plans").size(), 2U);
  EXPECT_EQ(profile.at("plans")[0].at("participants"), 6);
  EXPECT_GT(profile.at("plans")[0].at("rivals").size(), 2U);
  EXPECT_EQ(profile.at("plans")[1].at("verdict"), "no choice");
  EXPECT_EQ(num_files(), 1U) << "no other file is left";
}

TEST_F(TuneCommand, AnInterruptLeavesNothing) {
  const std::string teams = "16,15,14,13,12,11,10,9,8,7,6,5";  // a second for each
  const test::CommandResult result =
      test::run_hierbar("tune --participants " + teams + " --time-limit 60 --quiet --output " +
                            directory_ + "/p.json",
                        "timeout --preserve-status --signal=INT 1");
  EXPECT_EQ(result.exit_code, 128 + SIGINT);
  EXPECT_THAT(result.errors, HasSubstr("interrupted; nothing is written"));
  EXPECT_EQ(num_files(), 0U);
}

TEST_F(TuneCommand, RefusesBadOptionsWithTheirValueAndWhatIsAllowed) {
  const std::pair<const char*, const char*> bad[] = {{"--time-limit 0", "'0'"},
                                                     {"--time-limit nan", "'nan'"},
                                                     {"--time-limit 5s", "'5s'"},
                                                     {"--time-limit 9999", "'9999'"},
                                                     {"--participants 1", "'1'"},
                                                     {"--participants 4,,8", "'4,,8'"},
                                                     {"--participants 5000", "'5000'"},
                                                     {"--participants many", "'many'"},
                                                     {"--output ''", "'': "}};
  for (const auto& [arguments, value] : bad) {
    const test::CommandResult result = tune(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.errors, AllOf(HasSubstr(value), HasSubstr("allowed: "))) << arguments;
  }
}

TEST_F(TuneCommand, SaysBeforeItMeasuresThatItCannotWrite) {
  const test::CommandResult result = tune("--output /nowhere/profile.json");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("/nowhere/profile.json"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace hierbar

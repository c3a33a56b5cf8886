// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/launchers.hpp"
#include "tests/cli/run_hierbar.hpp"

// How the command behaves. What it finds in real programs: tests/cli/doctor_test.sh.
namespace hierbar {
namespace {

using test::CommandResult;
using test::run_hierbar;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kClean =
    "-u LD_PRELOAD -u LD_LIBRARY_PATH -u LD_AUDIT -u OMP_PLACES -u OMP_PROC_BIND -u KMP_AFFINITY -u GOMP_CPU_AFFINITY "
    "-u KMP_BARRIER -u KMP_INIT_AT_FORK -u PMI_RANK ";

CommandResult doctor(const std::string& arguments, const std::string& variables = "") {
  return run_hierbar("doctor " + arguments, kClean + variables);
}

nlohmann::json json_of(const CommandResult& result) {
  nlohmann::json json = nlohmann::json::parse(result.output, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.output << result.errors;
  return json;
}

TEST(DoctorCommand, HasNothingToSayOfAHealthyProgram) {
  const CommandResult result = doctor("-- true");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("true: nothing found\n"), HasSubstr("loads: no OpenMP runtime and no MPI\n")));
  EXPECT_THAT(doctor("--quiet -- true").output, IsEmpty());
}

TEST(DoctorCommand, StartsNothingUnlessAsked) {
  const CommandResult result = doctor("-- sh -c 'echo started >&2'");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, HasSubstr("note:  a shell starts other programs"));
  const CommandResult run = doctor("--run 20 -- sh -c 'echo started'");
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(run.errors, "started\n") << "stdout is doctor's own";
}

TEST(DoctorCommand, RefusesWhatItCannotExamine) {
  const CommandResult none = doctor("");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("no program; put it behind '--'"));
  const CommandResult missing = doctor("-- /no/such/program");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.errors, HasSubstr("there is no program '/no/such/program'"));
  EXPECT_EQ(doctor("-- env A=b /no/such/program").exit_code, 2);
  EXPECT_EQ(doctor("--bogus -- true").exit_code, 2);
  const CommandResult seconds = doctor("--run soon -- true");
  EXPECT_EQ(seconds.exit_code, 2);
  EXPECT_THAT(seconds.errors, HasSubstr("'soon': no such time; allowed: 1 to 86400 seconds"));
}

TEST(DoctorCommand, PrintsJson) {
  const nlohmann::json healthy = json_of(doctor("--json -- true"));
  EXPECT_EQ(healthy["verdict"], "nothing found");
  EXPECT_EQ(healthy["command"], nlohmann::json::parse(R"(["true"])"));
  EXPECT_EQ(healthy["was_run"], false);
  EXPECT_THAT(healthy["findings"], IsEmpty());
  EXPECT_TRUE(healthy["cpus"]["online"].is_string());
  EXPECT_TRUE(healthy["processes"].is_array());

  const CommandResult result = doctor("--json -- python3 -c pass", "KMP_INIT_AT_FORK=FALSE");
  if (!test::is_installed("python3")) GTEST_SKIP() << "python3 is not installed";
  EXPECT_EQ(result.exit_code, 1);
  const nlohmann::json json = json_of(result);
  EXPECT_EQ(json["verdict"], "findings");
  ASSERT_EQ(json["findings"].size(), 1U) << result.output;
  EXPECT_EQ(json["findings"][0]["code"], "fork-setting");
  EXPECT_EQ(json["findings"][0]["where"], "KMP_INIT_AT_FORK=FALSE");
  EXPECT_EQ(json["findings"][0]["command"], "KMP_INIT_AT_FORK=TRUE python3 -c pass");
  EXPECT_EQ(json["variables"]["KMP_INIT_AT_FORK"], "FALSE");
  EXPECT_EQ(json["notes"].size(), 1U);
}

TEST(DoctorCommand, FollowsWrappersAndTheirVariables) {
  const CommandResult result = doctor("--json -- env -u LD_PRELOAD GOMP_CPU_AFFINITY=4095 timeout 5 nice -n 1 true");
  const nlohmann::json json = json_of(result);
  EXPECT_THAT(json["program"].get<std::string>(), testing::EndsWith("/true"));
  ASSERT_EQ(json["findings"].size(), 1U) << result.output;
  EXPECT_EQ(json["findings"][0]["code"], "offline-cpus");
  EXPECT_EQ(doctor("-- env GOMP_CPU_AFFINITY=0 true").exit_code, 0);
}

TEST(DoctorCommand, SpeaksForAllRanksOnce) {
  const test::Launcher& mpich = test::kLaunchers[0];
  if (!test::is_installed(mpich.name)) GTEST_SKIP() << mpich.name << " is not installed";
  const CommandResult result = doctor("-- true", mpich.anywhere);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output.find("hierbar doctor"), result.output.rfind("hierbar doctor")) << result.output;
  EXPECT_THAT(result.output, HasSubstr("nothing found"));
}

}  // namespace
}  // namespace hierbar

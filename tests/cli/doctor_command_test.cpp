// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

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
    "-u LD_PRELOAD -u LD_LIBRARY_PATH -u LD_AUDIT -u OMP_PLACES -u OMP_PROC_BIND -u KMP_AFFINITY "
    "-u GOMP_CPU_AFFINITY "
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
  EXPECT_THAT(result.output, AllOf(HasSubstr("true: nothing found\n"),
                                   HasSubstr("loads: no OpenMP runtime and no MPI\n")));
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
  EXPECT_THAT(none.errors, HasSubstr("no program; put it after '--'"));
  const CommandResult missing = doctor("-- /no/such/program");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.errors, HasSubstr("there is no program '/no/such/program'"));
  EXPECT_EQ(doctor("-- env A=b /no/such/program").exit_code, 2);
  EXPECT_EQ(doctor("--bogus -- true").exit_code, 2);
  const CommandResult seconds = doctor("--run soon -- true");
  EXPECT_EQ(seconds.exit_code, 2);
  EXPECT_THAT(seconds.errors, HasSubstr("'soon': not a valid time; allowed: 1 to 86400 seconds"));
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
  const CommandResult result =
      doctor("--json -- env -u LD_PRELOAD GOMP_CPU_AFFINITY=4095 timeout 5 nice -n 1 true");
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
  EXPECT_EQ(result.output.find("hierbar doctor"), result.output.rfind("hierbar doctor"))
      << result.output;
  EXPECT_THAT(result.output, HasSubstr("nothing found"));
}

// A file for a bug report, read and removed.
nlohmann::json bug_report(const std::string& arguments, const std::string& variables = "") {
  const std::string path = testing::TempDir() + "hierbar_bug_" + std::to_string(getpid()) + ".json";
  const CommandResult result = doctor("--report-bug " + path + arguments, variables);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("wrote " + path));
  std::ifstream file(path);
  const nlohmann::json report = nlohmann::json::parse(file, nullptr, false);
  EXPECT_FALSE(report.is_discarded()) << path;
  unlink(path.c_str());
  return report;
}

TEST(DoctorCommand, WritesWhatABugReportNeedsIntoOneFile) {
  const nlohmann::json report = bug_report(" -- true", "OMP_NUM_THREADS=3");
  EXPECT_EQ(report["format"], "hierbar-bug-report-1");
  EXPECT_EQ(report["variables"]["OMP_NUM_THREADS"], "3");
  EXPECT_EQ(report["doctor"]["not_active"]["code"], "no-openmp");
  EXPECT_GT(report["machine"]["num_cpus"], 0);
  for (const char* what : {"hierbar", "kernel", "glibc", "distribution"}) {
    EXPECT_FALSE(report["versions"][what].get<std::string>().empty()) << what;
  }
  const nlohmann::json without = bug_report("");
  EXPECT_TRUE(without["doctor"].is_null()) << "no program is needed";
  EXPECT_GT(without["machine"]["num_cpus"], 0);
}

TEST(DoctorCommand, ABugReportSaysWhatTheLauncherToldTheRank) {
  for (const char* variable :
       {"MPI_LOCALRANKID", "FLUX_TASK_LOCAL_ID", "SLURM_STEP_TASKS_PER_NODE"})
    EXPECT_EQ(bug_report("", std::string(variable) + "=3")["variables"][variable], "3");
}

TEST(DoctorCommand, KeepsTheLastMessagesOfARunForABugReport) {
  const std::string program =
      " --run 20 -- sh -c 'echo OMP: told >&2; echo nothing of interest >&2; echo hierbar says "
      "$HIERBAR_VERBOSE >&2'";
  EXPECT_EQ(bug_report(program)["last_messages"],
            nlohmann::json::parse(R"(["OMP: told", "hierbar says 1"])"));
}

TEST(DoctorCommand, LeavesSecretsAndNamesOutOfABugReport) {
  char name[256] = "";
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  const std::string text =
      bug_report(" -- env DB_PASSWORD=hidden1 true",
                 "HIERBAR_API_TOKEN=hidden2 UNRELATED=hidden3 HIERBAR_NOTE=/srv/" +
                     std::string(name) + "/x")
          .dump();
  for (const char* hidden : {"hidden1", "hidden2", "hidden3"})
    EXPECT_THAT(text, testing::Not(HasSubstr(hidden)));
  EXPECT_THAT(text, AllOf(HasSubstr("DB_PASSWORD=(left out)"), HasSubstr("/srv/HOST/x")));
}

TEST(DoctorCommand, SaysWhyABugReportCannotBeWritten) {
  const CommandResult result = doctor("--report-bug /no/such/directory/bug.json");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors,
              HasSubstr("--report-bug: cannot write '/no/such/directory/bug.json': "));
}

}  // namespace
}  // namespace hierbar

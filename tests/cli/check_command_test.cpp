// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CheckCommand, IsFineWithOneThread) {
  const CommandResult result = run_hierbar("check", fresh("OMP_NUM_THREADS=1 taskset -c 0"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr(": 1 rank, 1 thread: fine\n"));
  EXPECT_THAT(run_hierbar("check --quiet", fresh("OMP_NUM_THREADS=1 taskset -c 0")).output,
              IsEmpty());
}

TEST(CheckCommand, FindsThreadsStackedByAMask) {
  const CommandResult result = run_hierbar("check", fresh("OMP_NUM_THREADS=4 taskset -c 0"));
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("1 rank, 4 threads"),
                    HasSubstr("stacked-threads: rank 0: 4 threads on 1 cpu\n"),
                    HasSubstr("where: rank 0: cpu 0\n"), HasSubstr("do:    bind each rank")));
  EXPECT_EQ(run_hierbar("check -t 1", fresh("OMP_NUM_THREADS=4 taskset -c 0")).exit_code, 0)
      << "-t beats OMP_NUM_THREADS";
}

TEST(CheckCommand, PrintsJson) {
  const CommandResult result =
      run_hierbar("check --json", fresh("OMP_NUM_THREADS=2 OMP_PLACES={0},{7000} taskset -c 0"));
  EXPECT_EQ(result.exit_code, 1);
  const nlohmann::json json = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.output << result.errors;
  EXPECT_EQ(json["verdict"], "findings");
  EXPECT_EQ(json["ranks"][0]["thread_cpus"], nlohmann::json::parse(R"(["0","0"])"));
  EXPECT_EQ(json["findings"][0]["kind"], "stacked-threads");
  EXPECT_EQ(json["findings"][1]["kind"], "foreign-cpus");
}

TEST(CheckCommand, BecomesTheProgram) {
  const CommandResult result = run_hierbar("check -- sh -c 'echo \"$1 $2\"; exit 7' name --only --",
                                           fresh("OMP_NUM_THREADS=2 taskset -c 0"));
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output, "--only --\n") << "everything behind the first -- is the program's";
  EXPECT_THAT(result.errors, HasSubstr("stacked-threads"));
  EXPECT_EQ(run_hierbar("check --only -- sh -c 'exit 7'", fresh("OMP_NUM_THREADS=1")).exit_code, 0);
  const CommandResult missing =
      run_hierbar("check --quiet -- /no/such/program", fresh("OMP_NUM_THREADS=1"));
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_THAT(missing.errors, HasSubstr("cannot run '/no/such/program'"));
}

// A process below this one with two threads that have moved to one cpu: what nothing in its
// environment tells.
TEST(CheckCommand, ChecksARunningJobAsItIs) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    std::thread([&] {
      [[maybe_unused]] const auto told = write(ready[1], "x", 1);
      pause();
    }).join();
  }
  char told = 0;
  EXPECT_EQ(read(ready[0], &told, 1), 1);
  const CommandResult stacked = run_hierbar("check --json --job " + std::to_string(getpid()), "");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(stacked.exit_code, 1) << stacked.errors;
  const nlohmann::json json = nlohmann::json::parse(stacked.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << stacked.output;
  const auto found =
      std::find_if(json["findings"].begin(), json["findings"].end(), [&](const auto& finding) {
        return finding["kind"] == "stacked-threads" &&
               finding["ranks"] == nlohmann::json::array({child});
      });
  EXPECT_NE(found, json["findings"].end()) << stacked.output;
  const CommandResult gone = run_hierbar("check --job " + std::to_string(child), "");
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.errors, HasSubstr("--job: '" + std::to_string(child) + "'"));
}

TEST(CheckCommand, SaysWhenItCannotCheck) {
  const CommandResult lost =
      run_hierbar("check --wait 1", fresh("MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2 PMI_RANK=0"));
  EXPECT_EQ(lost.exit_code, 0) << "variables without a launcher are somebody's leftovers";
  for (const char* arguments : {"check -t 0", "check --wait x", "check --bogus"}) {
    const CommandResult result = run_hierbar(arguments, fresh("OMP_NUM_THREADS=1"));
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.errors, HasSubstr("--help")) << arguments;
  }
}

// A launcher that starts a rank each second and a half, the reporting one last: all of them take
// longer than ranks wait for the next one.
TEST(CheckCommand, WaitsAsLongAsRanksCome) {
  const std::string launcher =
      testing::TempDir() + "hydra_pmi_proxy";  // ranks know it by its process's name
  const std::string script =
      "for rank in 3 2 1 0; do MPI_LOCALRANKID=$rank MPI_LOCALNRANKS=4 "
      "PMI_RANK=$rank " HIERBAR_COMMAND
      " check --only --wait 4 -t 1 & test $rank = 0 || sleep 1.5; done; wait";
  unlink(launcher.c_str());
  ASSERT_EQ(symlink("/bin/bash", launcher.c_str()), 0);
  const CommandResult result =
      test::run_shell(fresh("OMP_NUM_THREADS=1 '" + launcher + "' -c '" + script + "'"));
  unlink(launcher.c_str());
  EXPECT_THAT(result.output, HasSubstr(": 4 ranks, 4 threads: ")) << result.errors;
  EXPECT_THAT(result.errors, Not(HasSubstr("could not check")));
}

TEST(CheckCommand, ForeseesWhatPlacementCures) {
  const test::Launcher& mpich = test::kLaunchers[0];
  if (const std::string reason = test::reason_to_skip(mpich); !reason.empty())
    GTEST_SKIP() << reason;
  const std::string launch = "OMP_NUM_THREADS=2 mpiexec.mpich -bind-to core -n 1";
  const CommandResult cured = run_hierbar("check --json", fresh("KMP_BARRIER=hier " + launch));
  EXPECT_EQ(cured.exit_code, 0) << cured.output << cured.errors;
  EXPECT_THAT(cured.errors, HasSubstr("as libomp places the ranks"));
  for (const char* setting :
       {"", "KMP_BARRIER=hier HIERBAR_PLACE=off ", "KMP_BARRIER=hier HIERBAR_PLACE=check "}) {
    EXPECT_EQ(run_hierbar("check", fresh(setting + launch)).exit_code, 1) << setting;
  }
}

class CheckUnderLauncher : public testing::TestWithParam<test::Launcher> {};

TEST_P(CheckUnderLauncher, TellsRanksOnCoresFromStackedThreads) {
  if (const std::string reason = test::reason_to_skip(GetParam()); !reason.empty())
    GTEST_SKIP() << reason;
  const CommandResult fine = run_hierbar("check -- sh -c 'echo started'",
                                         fresh("OMP_NUM_THREADS=1 ") + GetParam().on_cores);
  EXPECT_EQ(fine.exit_code, 0) << fine.errors;
  EXPECT_EQ(fine.output, "started\nstarted\n");
  EXPECT_THAT(fine.errors, HasSubstr("2 ranks, 2 threads: fine"));

  const CommandResult stacked =
      run_hierbar("check", fresh("OMP_NUM_THREADS=4 ") + GetParam().on_cores);
  EXPECT_EQ(stacked.exit_code, 1) << stacked.errors;
  EXPECT_THAT(stacked.output, HasSubstr("stacked-threads: ranks 0-1: 4 threads on 1 cpu"));
  EXPECT_EQ(stacked.output.find("hierbar check"), stacked.output.rfind("hierbar check"))
      << "one rank speaks:\n"
      << stacked.output;
}

TEST_P(CheckUnderLauncher, FindsRanksThatAreNotBound) {
  if (const std::string reason = test::reason_to_skip(GetParam()); !reason.empty())
    GTEST_SKIP() << reason;
  const CommandResult result = run_hierbar(
      "check --only", fresh("OMP_NUM_THREADS=1 OMP_PLACES=cores ") + GetParam().anywhere);
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("overlapping-ranks: ranks 0-1:"),
                                   HasSubstr("places its threads from the same cpu on")));
}

INSTANTIATE_TEST_SUITE_P(Launchers, CheckUnderLauncher, testing::ValuesIn(test::kLaunchers),
                         test::launcher_name);

}  // namespace
}  // namespace hierbar

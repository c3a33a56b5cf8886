// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

nlohmann::json json_of(const CommandResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const nlohmann::json json = nlohmann::json::parse(result.output, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.output;
  return json;
}

TEST(ShowCommand, ForeseesTheThreadsOfAProgram) {
  const CommandResult text = run_hierbar("show", fresh("OMP_NUM_THREADS=2 taskset -c 0"));
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, AllOf(HasSubstr(": 2 threads on "), HasSubstr("shares cpus with\n"),
                                 HasSubstr("  0.1\n")));
  const nlohmann::json json =
      json_of(run_hierbar("show --json", fresh("OMP_NUM_THREADS=2 taskset -c 0")));
  EXPECT_EQ(json["live"], false);
  ASSERT_EQ(json["threads"].size(), 2U);
  EXPECT_EQ(json["threads"][1]["thread"], 1);
  EXPECT_EQ(json["threads"][1]["cpus"], "0");
  EXPECT_EQ(json["threads"][1]["cores"], "0");
  EXPECT_EQ(json["threads"][1]["shares_with"], nlohmann::json::parse(R"(["0.0"])"));
}

TEST(ShowCommand, NumbersTheUnitsOfTheMachine) {
  const nlohmann::json json =
      json_of(run_hierbar("show --json --topology 'pack:2 [numa] l3:1 core:2 pu:2'",
                          fresh("OMP_NUM_THREADS=1 taskset -c 0")));
  EXPECT_EQ(json["threads"][0]["packages"], "0");
  EXPECT_EQ(json["threads"][0]["l3"], "0");
}

TEST(ShowCommand, ForeseesTeamsOfTheSizeOfTheShare) {
  const test::Launcher& mpich = test::kLaunchers[0];
  if (const std::string reason = test::reason_to_skip(mpich); !reason.empty())
    GTEST_SKIP() << reason;
  const auto threads = [](const std::string& setting) {
    const CommandResult result = run_hierbar(
        "show --json", fresh("KMP_BARRIER=hier " + setting + " mpiexec.mpich -bind-to core -n 1"));
    const bool is_told =
        result.errors.find("a thread for each cpu of its share") != std::string::npos;
    EXPECT_EQ(is_told, setting != "HIERBAR_PLACE=auto") << result.errors;
    return json_of(result)["threads"].size();
  };
  EXPECT_EQ(threads("HIERBAR_PLACE=auto"), 1U);
  EXPECT_EQ(threads("HIERBAR_PLACE=threads=share"), std::thread::hardware_concurrency());
}

TEST(ShowCommand, StartsTheProgramAfterwards) {
  const CommandResult result =
      run_hierbar("show -- sh -c 'echo app; exit 3'", fresh("OMP_NUM_THREADS=1"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "app\n");
  EXPECT_THAT(result.errors, HasSubstr("1 thread on "));
}

TEST(ShowCommand, ShowsEveryThreadOfARunningProcess) {
  std::promise<int> bound;
  std::promise<void> over;
  std::thread thread([&] {
    pthread_setname_np(pthread_self(), "bound one");
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    int first = 0;
    while (!CPU_ISSET(first, &cpus)) ++first;
    CPU_ZERO(&cpus);
    CPU_SET(first, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    bound.set_value(first);
    over.get_future().wait();
  });
  const int cpu = bound.get_future().get();
  const nlohmann::json json = json_of(run_hierbar("show --json --pid " + std::to_string(getpid())));
  over.set_value();
  thread.join();
  EXPECT_EQ(json["live"], true);
  const auto& threads = json["threads"];
  const auto found = std::find_if(threads.begin(), threads.end(),
                                  [](const auto& one) { return one["name"] == "bound one"; });
  ASSERT_NE(found, threads.end()) << json.dump(2);
  EXPECT_EQ((*found)["cpus"], std::to_string(cpu));
  EXPECT_EQ((*found)["pid"], getpid());
}

TEST(ShowCommand, ShowsAllProcessesBelowOneThatIsNoLauncher) {
  const nlohmann::json json = json_of(run_hierbar("show --json --job " + std::to_string(getpid())));
  const auto& threads = json["threads"];
  EXPECT_TRUE(std::any_of(threads.begin(), threads.end(),
                          [](const auto& one) { return one["name"] == "hierbar"; }));
}

TEST(ShowCommand, WritesAPictureForLstopo) {
  const std::string file = "show_command_" + std::to_string(getpid()) + ".xml";
  const CommandResult result =
      run_hierbar("show --lstopo " + file, fresh("OMP_NUM_THREADS=2 taskset -c 0"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  std::ifstream stream(file);
  const std::string xml(std::istreambuf_iterator<char>(stream), {});
  EXPECT_THAT(xml, AllOf(HasSubstr("rank 0 thread 1"), HasSubstr("lstopoStyle"),
                         HasSubstr("Background=#")));
  if (test::is_installed("lstopo")) {
    EXPECT_EQ(std::system(("lstopo --input " + file + " --of console - >/dev/null").c_str()), 0);
  }
  unlink(file.c_str());

  char host[256] = "";
  gethostname(host, sizeof host - 1);
  EXPECT_EQ(run_hierbar("show --lstopo %h_" + file, fresh("OMP_NUM_THREADS=1")).exit_code, 0);
  EXPECT_EQ(unlink((std::string(host) + "_" + file).c_str()), 0) << "%h is the node's name";
}

TEST(ShowCommand, RefusesWhatItCannotShow) {
  const struct {
    const char* arguments;
    const char* message;
  } cases[] = {
      {"--pid 0", "'0': not a process number"},
      {"--pid 999999999", "there is no process 999999999 to be seen"},
      {"--job x", "--job: 'x'"},
      {"--pid 1 --job 1", " excludes "},
      {"--pid 1 -- true", "do not start a program"},
      {"--lstopo /no/such/directory/file", "cannot write '/no/such/directory/file'"},
  };
  for (const auto& one : cases) {
    const CommandResult result =
        run_hierbar(std::string("show ") + one.arguments, fresh("OMP_NUM_THREADS=1"));
    EXPECT_EQ(result.exit_code, 2) << one.arguments;
    EXPECT_THAT(result.errors, HasSubstr(one.message)) << one.arguments;
  }
}

class ShowUnderLauncher : public testing::TestWithParam<test::Launcher> {};

TEST_P(ShowUnderLauncher, PrintsAllRanksOnce) {
  if (const std::string reason = test::reason_to_skip(GetParam()); !reason.empty())
    GTEST_SKIP() << reason;
  const nlohmann::json json =
      json_of(run_hierbar("show --json", fresh("OMP_NUM_THREADS=2 ") + GetParam().on_cores));
  ASSERT_EQ(json["threads"].size(), 4U);
  EXPECT_EQ(json["threads"][2]["rank"], 1);
  EXPECT_NE(json["threads"][0]["cpus"], json["threads"][2]["cpus"]);
  EXPECT_EQ(json["threads"][2]["shares_with"], nlohmann::json::parse(R"(["1.1"])"));
}

TEST_P(ShowUnderLauncher, FindsTheRanksOfARunningJob) {
  if (const std::string reason = test::reason_to_skip(GetParam()); !reason.empty())
    GTEST_SKIP() << reason;
  // The rank's shell looks below its parent, and finds the command that it runs.
  const std::string launcher = GetParam().on_cores;
  const std::string one_rank = launcher.substr(0, launcher.rfind(' ')) + " 1";
  const CommandResult result =
      run_hierbar("", one_rank + " sh -c '\"" HIERBAR_COMMAND "\" show --json --job $PPID; true'");
  const nlohmann::json json = json_of(result);
  EXPECT_EQ(json["threads"][0]["rank"], 0);
  EXPECT_EQ(json["threads"][0]["name"], "hierbar");
}

INSTANTIATE_TEST_SUITE_P(Launchers, ShowUnderLauncher, testing::ValuesIn(test::kLaunchers),
                         test::launcher_name);

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/run_hierbar.hpp"

namespace hierbar {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kMachine = " --topology 'pack:2 [numa] l3:2 core:4 pu:1'";

test::CommandResult place(const std::string& arguments) {
  return test::run_hierbar("place " + arguments, "");
}

TEST(PlaceCommand, PrintsSharesAndSettings) {
  const test::CommandResult result = place("--per-node 3 -t 8,4,4" + kMachine);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, IsEmpty());
  EXPECT_THAT(
      result.output,
      AllOf(HasSubstr("     0        8      8   2     1         1  0-7\n"),
            HasSubstr("     2        4      4   1     1         1  12-15\n"),
            HasSubstr("mpiexec -n 3 -bind-to user:0+1+2+3+4+5+6+7,8+9+10+11,12+13+14+15\n"),
            HasSubstr("srun -n 3 --cpu-bind=mask_cpu:0xff,0xf00,0xf000\n"),
            HasSubstr(
                "rank 1: OMP_NUM_THREADS=4 OMP_PLACES={8},{9},{10},{11} OMP_PROC_BIND=spread\n")));
}

TEST(PlaceCommand, PrintsJson) {
  const test::CommandResult result = place("--per-node 2 -t 3 --cpus 0-3,8-11 --json" + kMachine);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const nlohmann::json json = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.output;
  EXPECT_EQ(json.at("pool"), "0-3,8-11");
  EXPECT_EQ(json.at("ranks").at(1).at("cpus"), "8-11");
  EXPECT_EQ(json.at("ranks").at(1).at("threads"), 3);
  EXPECT_EQ(json.at("ranks").at(1).at("packages"), 1);
  EXPECT_EQ(json.at("mpiexec"), "-bind-to user:0+1+2+3,8+9+10+11");
}

TEST(PlaceCommand, HasThePatternsThatPeopleCompare) {
  EXPECT_THAT(place("--per-node 4 -t 4 --pattern alternating" + kMachine).output,
              AllOf(HasSubstr(", pattern alternating\n"),
                    HasSubstr("user:0+1+2+3,8+9+10+11,4+5+6+7,12+13+14+15\n")));
  const std::string help = place("--help").output;
  for (const char* name : {"share", "packed", "alternating", "swapped", "pairs", "ends", "halves",
                           "sockets", "cores", "threads", "rank"}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + name + ' '));
  }
}

TEST(PlaceCommand, PrintsNothingButTheSettingsAskedFor) {
  EXPECT_EQ(place("--per-node 2 -t 2 --settings mpiexec --pattern packed" + kMachine).output,
            "-bind-to user:0+1,2+3\n");
  EXPECT_EQ(place("--per-node 2 -t 2 --settings srun --pattern packed" + kMachine).output,
            "--cpu-bind=mask_cpu:0x3,0xc\n");
  EXPECT_EQ(place("--per-node 2 -t 2 --settings rankfile --pattern alternating" + kMachine).output,
            "rank 0=localhost slot=0:0-1\nrank 1=localhost slot=1:0-1\n");
  EXPECT_EQ(
      place("--per-node 2 -t 2,1 --settings omp --pattern packed --proc-bind close" + kMachine)
          .output,
      "OMP_NUM_THREADS=2 OMP_PLACES={0},{1} OMP_PROC_BIND=close\nOMP_NUM_THREADS=1 OMP_PLACES={2} "
      "OMP_PROC_BIND=close\n");
}

TEST(PlaceCommand, PrintsSettingsForEveryLauncher) {
  const auto settings = [](const std::string& name, const std::string& more = "") {
    return place("--per-node 2 -t 4 --pattern packed --settings " + name + more + kMachine).output;
  };
  EXPECT_EQ(settings("sockets"), "--cpus-per-task=4 --cpu-bind=sockets\n");
  EXPECT_EQ(settings("intel"), "I_MPI_PIN_DOMAIN=[f,f0]\n");
  EXPECT_EQ(settings("mvapich2"), "MV2_ENABLE_AFFINITY=1 MV2_CPU_MAPPING=0,1,2,3:4,5,6,7\n");
  EXPECT_EQ(settings("map-by"), "--map-by slot:PE=4 --bind-to core\n");
  EXPECT_EQ(settings("pals"), "--cpu-bind list:0,1,2,3:4,5,6,7\n");
  EXPECT_EQ(settings("taskset"), "taskset -c 0,1,2,3\ntaskset -c 4,5,6,7\n");
  EXPECT_EQ(settings("rankfile", " --nodes 2"),
            "rank 0=+n0 slot=0:0-3\nrank 1=+n0 slot=0:4-7\n"
            "rank 2=+n1 slot=0:0-3\nrank 3=+n1 slot=0:4-7\n");
}

TEST(PlaceCommand, PlacesEightNodesOfTwoRanksWithFourThreads) {
  const test::CommandResult result =
      place("--per-node 2 -t 4 --nodes 8 --topology 'pack:2 core:4 pu:1'");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("2 ranks on each of 8 nodes"),
                    HasSubstr("mpiexec -n 16 -ppn 2 -bind-to user:0+1+2+3,"),
                    HasSubstr("srun -N 8 --ntasks-per-node=2 -n 16 --cpu-bind=mask_cpu:0xf,0xf0"),
                    HasSubstr("rank 15=+n7 slot=1:0-3")));
}

TEST(PlaceCommand, PlacesThreadsInsideAShare) {
  const std::string smt = " --json --topology 'pack:2 core:2 pu:2'";
  const auto threads_of = [&](const std::string& arguments) {
    const nlohmann::json json =
        nlohmann::json::parse(place(arguments + smt).output, nullptr, false);
    return json.is_discarded() ? "no JSON" : json["ranks"][1]["thread_cpus"].dump();
  };
  EXPECT_EQ(threads_of("--per-node 2 -t 2"), R"(["4-5","6-7"])");
  EXPECT_EQ(threads_of("--per-node 2 -t 3 --proc-bind close"), R"(["4","6","5"])");
  EXPECT_EQ(threads_of("--per-node 2 -t 1 --proc-bind primary"), R"(["4-7"])");
}

TEST(PlaceCommand, SaysWhenThreadsShareCores) {
  const test::CommandResult result = place("--per-node 2 -t 9" + kMachine);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, HasSubstr("18 threads share 16 cores"));
}

TEST(PlaceCommand, RefusesBadValues) {
  const struct {
    const char* arguments;
    const char* message;
  } cases[] = {
      {"--per-node 0 -t 1", "'0': no such number of ranks; allowed: 1 to 65536"},
      {"--per-node 1x -t 1", "'1x'"},
      {"--per-node 2 -t 0", "'0' is not a valid number of threads"},
      {"--per-node 2 -t 1,", "'' is not a valid number of threads"},
      {"--per-node 2 -t 1,2,3", "'1,2,3': not a number for each of 2"},
      {"--per-node 2 -t 1 --cpus 15-16", "'15-16': not all are cpus of this machine"},
      {"--per-node 2 -t 1 --cpus a", "--cpus"},
      {"--per-node 2 -t 1 --pattern scatter",
       "--pattern: 'scatter': no such pattern; allowed: share, packed, alternating, swapped, "
       "pairs, ends"},
      {"--per-node 2 -t 1 --proc-bind master",
       "'master': no such policy; allowed: close, spread, primary"},
      {"--per-node 2 -t 1 --settings all",
       "'all': no such settings; allowed: mpiexec, srun, map_cpu, sockets"},
      {"--per-node 2 -t 2 --settings map_cpu", "rank 0 has cpus 0-7, and map_cpu gives a rank one"},
      {"--per-node 2 -t 2,3 --settings cores", "ranks have different numbers of threads"},
      {"--per-node 2 -t 1 --settings map-by --pattern pairs",
       "Open MPI has no mapping like 'pairs'; a rankfile has"},
      {"--per-node 2 -t 1 --nodes 0", "--nodes: '0': no such number of nodes"},
      {"--per-node 17 -t 1", "17 ranks for 16 cpus"},
      {"-n 2 -t 1", "-n,--ranks: is called --per-node here"},
  };
  for (const auto& one : cases) {
    const test::CommandResult result = place(one.arguments + kMachine);
    EXPECT_EQ(result.exit_code, 2) << one.arguments;
    EXPECT_THAT(result.errors, HasSubstr(one.message)) << one.arguments;
    EXPECT_THAT(result.output, IsEmpty()) << one.arguments;
  }
}

}  // namespace
}  // namespace hierbar

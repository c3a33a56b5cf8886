// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/network/measured_nodes.hpp"

namespace hierbar {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AdviseCommand : public test::MeasuredCommand {
 protected:
  AdviseCommand() : MeasuredCommand("advise") {}

  json candidates(const std::string& arguments) {
    const test::CommandResult result = run(arguments + " --json", " -- ./app 'two words'");
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return json::parse(result.output, nullptr, false)["candidates"];
  }
};

TEST_F(AdviseCommand, PutsTheFastestFirstWithItsReason) {
  const json found = candidates("-n 8 --traffic alltoall:1M");
  EXPECT_EQ(found.front()["ranks_per_node"], json({8}));
  EXPECT_THAT(found.front()["reason"].get<std::string>(),
              HasSubstr("package binds: up to 16 pairs share"));
  EXPECT_EQ(found.front()["barrier_us"], 0);
  for (const json& one : found) {
    if (one["ranks_per_node"].size() == 1) continue;
    EXPECT_GT(one["barrier_us"], 0);
    EXPECT_GT(one["order"], 1);
  }
}

TEST_F(AdviseCommand, MarksWhatComesFromATypicalNetwork) {
  const std::string arguments = "-n 8 --traffic alltoall:1M --network ethernet-10g-tcp";
  EXPECT_THAT(run(arguments).output,
              AllOf(HasSubstr("costs from typical ethernet-10g-tcp, not measured here"),
                    HasSubstr("typical, not measured: ")));
  EXPECT_EQ(json::parse(run(arguments + " --json").output)["typical"], "ethernet-10g-tcp");
  EXPECT_TRUE(json::parse(run("-n 8 --traffic alltoall:1M --json").output)["typical"].is_null());
}

TEST_F(AdviseCommand, GivesEachRankTheCoresOfItsNode) {
  const json found = candidates("-n 4 --nodes 2 --traffic halo:64K");
  EXPECT_EQ(found.front()["threads"], 4);
  EXPECT_EQ(found.front()["ranks_per_node"], json({2, 2}));
  const json& lines = found.front()["lines"];
  EXPECT_EQ(lines["MPICH"],
            "mpiexec -n 4 -ppn 2 -bind-to user:0+1+2+3,4+5+6+7 -genv OMP_NUM_THREADS 4 -genv "
            "OMP_PLACES cores -genv "
            "OMP_PROC_BIND close ./app 'two words'");
  EXPECT_EQ(lines["Slurm"],
            "OMP_NUM_THREADS=4 OMP_PLACES=cores OMP_PROC_BIND=close srun -N 2 --ntasks-per-node=2 "
            "-n 4 --cpus-per-task=4 "
            "--cpu-bind=mask_cpu:0xf,0xf0 ./app 'two words'");
  EXPECT_EQ(lines["Intel MPI"],
            "mpiexec -n 4 -ppn 2 -genv I_MPI_PIN_DOMAIN '[f,f0]' -genv OMP_NUM_THREADS 4 -genv "
            "KMP_AFFINITY "
            "granularity=core,compact ./app 'two words'");
  EXPECT_EQ(lines["PALS"],
            "mpiexec -n 4 --ppn 2 --cpu-bind list:0,1,2,3:4,5,6,7 --env OMP_NUM_THREADS=4 --env "
            "OMP_PLACES=cores --env "
            "OMP_PROC_BIND=close ./app 'two words'");
  EXPECT_THAT(
      lines["Open MPI"].get<std::string>(),
      HasSubstr("hierbar place --per-node 2 -t 4 --nodes 2 --pattern share --settings rankfile > "
                "ranks && mpiexec -n 4"));
}

TEST_F(AdviseCommand, ListsNothingThatCheckWouldFind) {
  const test::CommandResult result = run("-n 8 --nodes 1 --threads 1,2 --traffic halo:64K");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("left out, since 'hierbar check' would find: overlapping-ranks"),
                    HasSubstr("more threads than cores"), Not(HasSubstr("threads, sockets"))));
}

TEST_F(AdviseCommand, SaysWhenThereIsNoDifference) {
  write("network.json",
        *network::with_network("", network::test::measured_nodes(kShape + ", 8 cores", 0.9)));
  EXPECT_THAT(run("-n 4 --traffic alltoall:1K").output, HasSubstr("no difference among the first"));
}

TEST_F(AdviseCommand, PutsMoreThreadsFirstWhereMessagesDoNotDiffer) {
  EXPECT_EQ(candidates("-n 1 --nodes 1 --threads 1,2 --traffic halo:1K").front()["threads"], 2);
}

TEST_F(AdviseCommand, TriesTheBestInTurnsAndWithoutBinding) {
  // Stands for a launcher: it takes longer with a binding.
  const std::string launcher =
      write("srun",
            "#!/bin/sh\ncase \"$*\" in *cpu-bind*) n=100 ;; *) n=1 ;; esac\n"
            "while [ $n -gt 0 ]; do n=$((n-1)); : $(:); done\n");
  ASSERT_EQ(std::system(("chmod +x " + launcher).c_str()), 0);
  const test::CommandResult result = test::run_hierbar(
      "advise -n 2 --nodes 1 --traffic halo:1K --try 2 --rounds 3 --launcher srun --json "
      "--topology '" +
          kShape + "' -- app",
      "PATH=" + directory_.path() +
          ":$PATH HIERBAR_NETWORK=" + std::string(directory_ / "network.json"));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("run 12 of 12"));
  const json found = json::parse(result.output)["candidates"];
  EXPECT_LT(found[0]["r_bind_by_r_def"], 1);
  EXPECT_GT(found[1]["tried_s"]["median"], found[1]["default_s"]["median"]);
}

TEST_F(AdviseCommand, RefusesWithTheReason) {
  EXPECT_THAT(refused("-n 4 --pattern halo:1K"), HasSubstr("is called --traffic here"));
  EXPECT_THAT(refused("-n 0 --traffic halo:1K"), HasSubstr("'0': no such number of ranks"));
  EXPECT_THAT(refused("-n 4"), HasSubstr("needs --traffic or --matrix"));
  EXPECT_THAT(refused("-n 4 --traffic ring:1K"), HasSubstr("'ring' is not a known pattern"));
  EXPECT_THAT(refused("-n 4 --traffic halo:1K --nodes 0"),
              HasSubstr("--nodes: '0': '0' is not a valid number"));
  EXPECT_THAT(refused("-n 4 --traffic halo:1K --threads many"), HasSubstr("--threads: 'many'"));
  EXPECT_THAT(refused("-n 4 --traffic halo:1K --nodes 1 --threads 9"),
              HasSubstr("no candidate is left"));
  EXPECT_THAT(refused("-n 4 --traffic halo:1K --try 0", " -- ./app"), HasSubstr("--try: '0'"));
  EXPECT_THAT(refused("-n 4 --traffic halo:1K --try 1"),
              HasSubstr("no program; put it after '--'"));
  EXPECT_THAT(refused("-n 4 --traffic halo:1K --try 1 --launcher rsh", " -- ./app"),
              HasSubstr("'rsh': no such launcher"));
  EXPECT_THAT(refused("-n 1 --traffic halo:1K --try 1 --launcher srun", " -- /nowhere/app"),
              HasSubstr("exit status"));
}

TEST_F(AdviseCommand, RefusesToTryWithoutALauncher) {
  const test::CommandResult result = test::run_hierbar(
      "advise -n 1 --traffic halo:1K --try 1 --topology '" + kShape + "' -- ./app",
      "PATH=/nowhere HIERBAR_NETWORK=" + std::string(directory_ / "network.json"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("no launcher here: neither mpiexec nor srun is in PATH"));
}

}  // namespace
}  // namespace hierbar

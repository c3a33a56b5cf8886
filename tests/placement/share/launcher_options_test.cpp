// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/launcher_options.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

TEST(Launch, HydraTakesCpusJoinedByPlus) { EXPECT_EQ(hydra_option({cpus("0-1"), cpus("3")}), "-bind-to user:0+1,3"); }

TEST(Launch, SlurmTakesMasks) {
  EXPECT_EQ(slurm_option({cpus("0-1"), cpus("4-7,64"), cpus("128")}),
            "--cpu-bind=mask_cpu:0x3,0x100000000000000f0,0x100000000000000000000000000000000");
}

TEST(Launch, RankfilesNameTheCoresOfPackages) {
  using enum Level;
  Machine machine = test::make_machine("8 cpus", {{kPackage, 2}, {kCore, 2}}, 2);
  EXPECT_EQ(*rankfile(machine, {cpus("0-3"), cpus("4"), cpus("6-7")}),
            "rank 0=localhost slot=0:0-1\nrank 1=localhost slot=1:0\nrank 2=localhost slot=1:1\n");
  EXPECT_EQ(*rankfile(machine, {cpus("0-1"), cpus("0-3")}), "rank 0=localhost slot=0:0\nrank 1=localhost slot=0:0-1\n");
  machine.allowed = cpus("2-7");  // Open MPI does not see the others
  EXPECT_EQ(*rankfile(machine, {cpus("2-3")}), "rank 0=localhost slot=0:0\n");
}

TEST(Launch, RankfilesCannotSplitCores) {
  using enum Level;
  const Machine machine = test::make_machine("4 cpus", {{kPackage, 1}, {kCore, 2}}, 2);
  const Result<std::string> file = rankfile(machine, {cpus("0"), cpus("1")});
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error(), testing::HasSubstr("rank 1 and another have parts of one core"));
}

TEST(Launch, RankfilesSayWhyTheyCannotName) {
  using enum Level;
  EXPECT_THAT(rankfile(test::make_machine("2 cpus", {{kCore, 2}}, 1), {cpus("0")}).error(), testing::HasSubstr("tells none"));
  const Machine machine = test::make_machine("64 cpus", {{kPackage, 1}, {kCore, 64}}, 1);
  EXPECT_EQ(*rankfile(machine, {cpus("0-63")}), "rank 0=localhost slot=0:0-63\n");
  EXPECT_THAT(rankfile(machine, {cpus("1"), cpus("0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30")}).error(),
              testing::HasSubstr("the cores of rank 1 make a list of 74 characters, and Open MPI reads at most 63"));
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/launch.hpp"

#include <gtest/gtest.h>

#include "support/machines.hpp"

namespace hierbar {
namespace {

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

TEST(Launch, HydraTakesCpusJoinedByPlus) { EXPECT_EQ(hydra_option({cpus("0-1"), cpus("3")}), "-bind-to user:0+1,3"); }

TEST(Launch, SlurmTakesMasks) {
  EXPECT_EQ(slurm_option({cpus("0-1"), cpus("4-7,64"), cpus("128")}),
            "--cpu-bind=mask_cpu:0x3,0x100000000000000f0,0x100000000000000000000000000000000");
}

TEST(Launch, OpenMpTakesAPlaceForEachCore) {
  using enum Level;
  const Machine machine = test::make_machine("8 cpus", {{kPackage, 2}, {kCore, 2}}, 2);
  EXPECT_EQ(omp_places(machine, cpus("0-3")), "{0,1},{2,3}");
  EXPECT_EQ(omp_places(machine, cpus("1,4-5")), "{1},{4,5}");
}

}  // namespace
}  // namespace hierbar

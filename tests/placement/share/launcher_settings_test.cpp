// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/share/launcher_settings.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LauncherSettings : public testing::Test {
 protected:
  NodePlacement place(Pattern pattern, const std::vector<std::uint32_t>& threads) const {
    return {machine_, pattern, threads, *place_ranks(pattern, machine_, machine_.allowed, threads)};
  }
  const Machine machine_ = test::make_machine("8 cores", {{Level::kPackage, 2}, {Level::kCore, 4}}, 1);
};

TEST_F(LauncherSettings, MapCpuGivesEachRankOneCpu) {
  EXPECT_EQ(*slurm_map_cpu(place(Pattern::kAlternating, {1, 1, 1})), "--cpu-bind=map_cpu:0,4,1");
  EXPECT_THAT(slurm_map_cpu(place(Pattern::kPacked, {1, 2})).error(), HasSubstr("rank 1 has cpus 1-2"));
}

TEST_F(LauncherSettings, PoliciesNeedOneNumberOfThreads) {
  EXPECT_EQ(*slurm_policy(place(Pattern::kSockets, {4, 4}), "sockets"), "--cpus-per-task=4 --cpu-bind=sockets");
  EXPECT_THAT(slurm_policy(place(Pattern::kSockets, {4, 2}), "cores").error(), HasSubstr("--cpus-per-task is one number"));
  EXPECT_THAT(openmpi_map_by(place(Pattern::kPacked, {4, 2})).error(), HasSubstr("PE is one number"));
}

TEST_F(LauncherSettings, OpenMpiKnowsSomePatterns) {
  EXPECT_EQ(*openmpi_map_by(place(Pattern::kPacked, {2, 2})), "--map-by slot:PE=2 --bind-to core");
  EXPECT_EQ(*openmpi_map_by(place(Pattern::kAlternating, {2, 2})), "--map-by socket:PE=2 --bind-to core");
  EXPECT_EQ(*openmpi_map_by(place(Pattern::kSockets, {2, 2})), "--map-by socket --bind-to socket");
  EXPECT_FALSE(openmpi_map_by(place(Pattern::kEnds, {1, 1})).ok());
}

TEST_F(LauncherSettings, VariablesNameTheCpus) {
  const NodePlacement node = place(Pattern::kAlternating, {2, 2});
  EXPECT_EQ(intel_pin_domain(node), "I_MPI_PIN_DOMAIN=[3,30]");
  EXPECT_EQ(mvapich_mapping(node), "MV2_ENABLE_AFFINITY=1 MV2_CPU_MAPPING=0,1:4,5");
  EXPECT_EQ(pals_option(node), "--cpu-bind list:0,1:4,5");
  EXPECT_THAT(taskset_words(node), ElementsAre("taskset -c 0,1", "taskset -c 4,5"));
}

}  // namespace
}  // namespace hierbar

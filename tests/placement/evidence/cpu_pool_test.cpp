// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "placement/evidence/cpu_pool.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <random>

#include "tests/support/surroundings.hpp"

namespace hierbar {
namespace {

using testing::HasSubstr;

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

// 16 cpus, nothing cut out, nothing known.
PoolEvidence whole_machine() { return {.online = cpus("0-15"), .kernel = cpus("0-15")}; }

PoolEvidence with_grant(PoolEvidence evidence, const char* list) {
  evidence.grant = {cpus(list), "hydra_pmi_proxy (process 500)"};
  return evidence;
}

std::string chosen(const PoolEvidence& evidence, PoolChoice choice = PoolChoice::kAuto) {
  const Result<CpuPool> pool = choose_pool(evidence, choice);
  if (!pool) return "error: " + pool.error();
  return std::string(pool_choice_name(pool->source)) + " " + pool->cpus.to_string() +
         ", capacity " + std::to_string(pool->capacity) + (pool->is_exclusive ? ", exclusive" : "");
}

TEST(CpuPool, IsTheGrantWithinWhatTheKernelAllows) {
  PoolEvidence evidence = with_grant(whole_machine(), "4-11");
  EXPECT_EQ(chosen(evidence), "grant 4-11, capacity 8, exclusive");
  evidence.kernel = cpus("0-7");
  EXPECT_EQ(chosen(evidence), "grant 4-7, capacity 4, exclusive");
  evidence.kernel = cpus("0-3");
  EXPECT_EQ(
      chosen(evidence),
      "error: the kernel allows none of the cpus 4-11, those of hydra_pmi_proxy (process 500)");
}

TEST(CpuPool, TakesAGrantOfTheWholeMachineUnlessANumberSpeaksAgainstIt) {
  PoolEvidence evidence = with_grant(whole_machine(), "0-15");
  EXPECT_EQ(chosen(evidence), "grant 0-15, capacity 16, exclusive");
  evidence.scheduled = {16, "SLURM_CPUS_ON_NODE"};
  EXPECT_EQ(chosen(evidence), "grant 0-15, capacity 16, exclusive");
  evidence.scheduled = {4, "SLURM_CPUS_ON_NODE"};
  EXPECT_EQ(chosen(evidence), "grant 0-15, capacity 4");
  evidence.scheduled.reset();
  evidence.quota = {2, "the control group's quota"};
  EXPECT_EQ(chosen(evidence), "grant 0-15, capacity 2");
}

TEST(CpuPool, IsTheCpusetWhereThatIsLessThanTheMachine) {
  PoolEvidence evidence = whole_machine();
  evidence.kernel = cpus("2-5");
  EXPECT_EQ(chosen(evidence), "cpuset 2-5, capacity 4, exclusive");
  evidence.quota = {3, "the control group's quota"};
  EXPECT_EQ(chosen(evidence), "cpuset 2-5, capacity 3, exclusive");
}

TEST(CpuPool, IsTheCpusetWhereTheBatchSystemGaveTheWholeMachine) {
  PoolEvidence evidence = whole_machine();
  evidence.scheduled = {16, "SLURM_CPUS_ON_NODE"};
  EXPECT_EQ(chosen(evidence), "cpuset 0-15, capacity 16, exclusive");
  evidence.quota = {8, "the control group's quota"};
  EXPECT_EQ(chosen(evidence), "cpuset 0-15, capacity 8");
}

TEST(CpuPool, IsElseTheUnionOfTheRanks) {
  PoolEvidence evidence = whole_machine();
  EXPECT_EQ(chosen(evidence), "error: the ranks of this node have not told each other their cpus");
  evidence.ranks = cpus("0-3");
  EXPECT_EQ(chosen(evidence), "union 0-3, capacity 4, exclusive");
  evidence.ranks = cpus("0-15");
  EXPECT_EQ(chosen(evidence), "union 0-15, capacity 16");
  evidence.online = CpuSet();  // unreadable
  EXPECT_EQ(chosen(evidence), "union 0-15, capacity 16");
}

TEST(CpuPool, ObeysTheSetting) {
  PoolEvidence evidence = with_grant(whole_machine(), "0-7");
  evidence.ranks = cpus("3-4");
  EXPECT_EQ(chosen(evidence, PoolChoice::kCpuset), "cpuset 0-15, capacity 16, exclusive");
  EXPECT_EQ(chosen(evidence, PoolChoice::kUnion), "union 3-4, capacity 2, exclusive");
  EXPECT_EQ(chosen(evidence, PoolChoice::kGrant), "grant 0-7, capacity 8, exclusive");
  evidence.grant.reset();
  EXPECT_EQ(chosen(evidence, PoolChoice::kGrant),
            "error: no launcher's process of this user is among the ancestors");
}

TEST(CpuPool, SaysWhy) {
  PoolEvidence evidence = with_grant(whole_machine(), "0-15");
  evidence.scheduled = {4, "SLURM_CPUS_ON_NODE"};
  EXPECT_EQ(
      choose_pool(evidence, PoolChoice::kAuto)->why,
      "16 cpus (0-15), those of hydra_pmi_proxy (process 500); SLURM_CPUS_ON_NODE leaves 4 cpus");
  evidence.kernel = cpus("3");
  EXPECT_EQ(choose_pool(evidence, PoolChoice::kCpuset)->why,
            "1 cpu (3), those that the kernel allows, which are not all; chosen by pool=cpuset");
}

TEST(CpuPool, WorksBeyond1024Cpus) {
  PoolEvidence evidence{.online = CpuSet::range(0, 4095), .kernel = CpuSet::range(0, 4095)};
  evidence.grant = {CpuSet::range(2048, 4095), "prted (process 7)"};
  EXPECT_EQ(chosen(evidence), "grant 2048-4095, capacity 2048, exclusive");
}

TEST(CpuPool, NeverLeavesWhatTheKernelAllowsAndNeverIsEmpty) {
  std::mt19937 random(5);
  const auto any_set = [&] {
    CpuSet set;
    for (std::uint32_t cpu = 0; cpu < 70; ++cpu) {
      if (random() % 3 == 0) set.set(cpu);
    }
    return set;
  };
  int num_pools = 0;
  for (int round = 0; round < 2000; ++round) {
    PoolEvidence evidence{.online = any_set(), .kernel = any_set()};
    if (random() % 2 == 0) evidence.grant = {any_set(), "mpirun (process 1)"};
    if (random() % 2 == 0) evidence.ranks = any_set();
    if (random() % 2 == 0)
      evidence.scheduled = {1 + static_cast<std::uint32_t>(random() % 80), "NCPUS"};
    if (random() % 2 == 0)
      evidence.quota = {1 + static_cast<std::uint32_t>(random() % 80), "quota"};
    for (const PoolChoice choice :
         {PoolChoice::kAuto, PoolChoice::kUnion, PoolChoice::kGrant, PoolChoice::kCpuset}) {
      const Result<CpuPool> pool = choose_pool(evidence, choice);
      if (!pool) continue;
      ++num_pools;
      EXPECT_FALSE(pool->cpus.empty());
      EXPECT_TRUE(pool->cpus.is_subset_of(evidence.kernel));
      EXPECT_GE(pool->capacity, 1U);
      EXPECT_LE(pool->capacity, pool->cpus.count());
      EXPECT_TRUE(choice == PoolChoice::kAuto || pool->source == choice);
      EXPECT_NE(pool->source, PoolChoice::kAuto);
    }
  }
  EXPECT_GT(num_pools, 4000);
}

Process launcher(const char* name, std::uint32_t user) {
  return {.pid = 500,
          .parent = 1,
          .start_ticks = 1,
          .user = user,
          .name = name,
          .cpus = CpuSet::range(0, 0)};
}

TEST(PoolEvidence, TakesTheGrantOnlyFromALauncherOfThisUser) {
  const auto evidence = [](const Process& process) {
    return *read_pool_evidence(test::environment_of({}), {process});
  };
  const PoolEvidence granted = evidence(launcher("hydra_pmi_proxy", geteuid()));
  ASSERT_TRUE(granted.grant);
  EXPECT_EQ(granted.grant->holder, "hydra_pmi_proxy (process 500)");
  EXPECT_EQ(granted.grant->cpus, CpuSet::range(0, 0));
  EXPECT_FALSE(evidence(launcher("hydra_pmi_proxy", geteuid() + 1)).grant);
  EXPECT_FALSE(evidence(launcher("slurmstepd", geteuid())).grant);
  EXPECT_FALSE(evidence(launcher("bash", geteuid())).grant);
}

TEST(PoolEvidence, DoesNotLookBehindTheBatchSystemsDaemon) {
  const std::vector<Process> ancestors = {launcher("slurmstepd", geteuid()),
                                          launcher("mpirun", geteuid())};
  EXPECT_FALSE(read_pool_evidence(test::environment_of({}), ancestors)->grant);
}

TEST(PoolEvidence, TakesTheBatchSystemsNumbersOnlyInItsJobs) {
  const auto scheduled = [](const test::Variables& variables) {
    const PoolEvidence evidence = *read_pool_evidence(test::environment_of(variables), {});
    return evidence.scheduled
               ? evidence.scheduled->source + "=" + std::to_string(evidence.scheduled->num_cpus)
               : "none";
  };
  EXPECT_EQ(scheduled({{"SLURM_JOB_ID", "1"}, {"SLURM_CPUS_ON_NODE", "2"}}),
            "SLURM_CPUS_ON_NODE=2");
  EXPECT_EQ(scheduled({{"PBS_JOBID", "7.server"}, {"NCPUS", "36"}}), "NCPUS=36");
  EXPECT_EQ(scheduled({{"NCPUS", "36"}}), "none");
  EXPECT_EQ(scheduled({{"SLURM_JOB_ID", "1"}, {"SLURM_CPUS_ON_NODE", "all"}}), "none");
  EXPECT_EQ(scheduled({{"SLURM_JOB_ID", "1"}, {"SLURM_CPUS_ON_NODE", "0"}}), "none");
}

TEST(PoolEvidence, ReadsTheKernelsCpus) {
  const PoolEvidence evidence = *read_pool_evidence(test::environment_of({}), {});
  EXPECT_FALSE(evidence.kernel.empty());
  EXPECT_TRUE(evidence.kernel.is_subset_of(evidence.online));
}

}  // namespace
}  // namespace hierbar

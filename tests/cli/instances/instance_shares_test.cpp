// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/instances/instance_shares.hpp"

#include <gmock/gmock.h>

#include "placement/decision/decide.hpp"
#include "tests/topology/known_topologies.hpp"
#include "topology/load.hpp"

namespace hierbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CpuPool whole_pool(const Machine& machine, const PoolEvidence& evidence = {}) {
  CpuPool pool = *instance_pool(machine, machine.allowed, evidence);
  pool.is_exclusive = true;  // else ranks would not share it out
  return pool;
}

std::vector<std::string> cpus_of(const InstanceShares& instances) {
  std::vector<std::string> cpus;
  for (const InstanceShare& share : instances.shares) cpus.push_back(share.cpus.to_string());
  return cpus;
}

std::vector<std::uint32_t> threads_of(const InstanceShares& instances) {
  std::vector<std::uint32_t> threads;
  for (const InstanceShare& share : instances.shares) threads.push_back(share.num_threads);
  return threads;
}

class InstanceSharesOn : public testing::TestWithParam<test::KnownTopology> {};

INSTANTIATE_TEST_SUITE_P(Machines, InstanceSharesOn, testing::ValuesIn(test::known_topologies()),
                         [](const auto& machine) { return machine.param.name; });

TEST_P(InstanceSharesOn, AreThoseOfAsManyRanks) {
  if (GetParam().recorded) HIERBAR_NEED_RECORDED(GetParam().description);
  const Machine machine = *load_described_machine(GetParam().description);
  const CpuPool pool = whole_pool(machine);
  for (const std::uint32_t number : {1U, 2U, 3U, 5U, 7U, pool.cpus.count()}) {
    if (number > pool.cpus.count()) continue;
    SCOPED_TRACE(number);
    const InstanceShares instances = share_among_instances(machine, pool, number, 0);
    EXPECT_TRUE(instances.are_disjoint);
    CpuSet given;
    for (const InstanceShare& share : instances.shares) {
      EXPECT_FALSE(share.cpus.intersects(given));
      EXPECT_EQ(share.num_threads, machine.one_cpu_per_core(share.cpus).count());
      given |= share.cpus;
    }
    EXPECT_EQ(given, pool.cpus);
    if (number == 1) continue;  // a rank alone shares with nobody
    const Decision ranks = decide_for_equals(machine, pool, 0, number);
    ASSERT_EQ(ranks.shares.size(), number) << ranks.why;
    for (std::uint32_t i = 0; i < number; ++i)
      EXPECT_EQ(instances.shares[i].cpus, ranks.shares[i]) << i;
  }
}

TEST(InstanceShares, HaveOneThreadForEachCoreAndAllCpusOfIt) {
  const Machine machine = *load_described_machine("pack:2 [numa] core:4 pu:2");
  const InstanceShares two = share_among_instances(machine, whole_pool(machine), 2, 0);
  EXPECT_THAT(cpus_of(two), ElementsAre("0-7", "8-15"));
  EXPECT_THAT(threads_of(two), ElementsAre(4, 4));
  EXPECT_THAT(two.warnings, IsEmpty());
  EXPECT_EQ(two.fewest_cpus(), 8);

  const InstanceShares three = share_among_instances(machine, whole_pool(machine), 3, 0);
  EXPECT_THAT(threads_of(three), ElementsAre(2, 2, 4)) << "no share is on two packages";
  EXPECT_EQ(three.fewest_cpus(), 4);

  const InstanceShares asked = share_among_instances(machine, whole_pool(machine), 2, 8);
  EXPECT_THAT(cpus_of(asked), ElementsAre("0-7", "8-15"));
  EXPECT_THAT(threads_of(asked), ElementsAre(8, 8));
  EXPECT_THAT(asked.warnings, ElementsAre(HasSubstr("16 threads share 8 cores")));
}

TEST(InstanceShares, FollowTheTreeAndNotTheNumbersOfCpus) {
  const Machine machine =
      *load_described_machine("pack:2 [numa] core:2 pu:2(indexes=0,4,2,6,1,5,3,7)");
  EXPECT_THAT(cpus_of(share_among_instances(machine, whole_pool(machine), 2, 0)),
              ElementsAre("0,2,4,6", "1,3,5,7"));
}

TEST(InstanceShares, LeaveOutOfflineCpus) {
  const std::string file = test::recorded_topology("16em64t-4s2c2t-offlines");
  HIERBAR_NEED_RECORDED(file);
  const Machine machine = *load_described_machine(file);
  const InstanceShares two = share_among_instances(machine, whole_pool(machine), 2, 0);
  EXPECT_THAT(cpus_of(two), ElementsAre("0-1,4,8-9,12", "3,6-7,10-11,15"));
  EXPECT_THAT(threads_of(two), ElementsAre(3, 4));
}

TEST(InstanceShares, AreOfTheCpusThatThisProcessMayUse) {
  const Machine machine = *load_described_machine("pack:2 [numa] core:4 pu:2");
  const CpuPool pool = *instance_pool(machine, *CpuSet::parse("2-5,12-13,99"), {});
  EXPECT_EQ(pool.cpus.to_string(), "2-5,12-13");
  EXPECT_THAT(cpus_of(share_among_instances(machine, pool, 3, 0)),
              ElementsAre("2-3", "4-5", "12-13"));
  EXPECT_FALSE(instance_pool(machine, *CpuSet::parse("99"), {}).ok());
}

TEST(InstanceShares, AreSingleCpusWhereThereIsNoCoreForEach) {
  const Machine machine = *load_described_machine("pack:1 core:2 pu:2");
  const InstanceShares four = share_among_instances(machine, whole_pool(machine), 4, 0);
  EXPECT_THAT(cpus_of(four), ElementsAre("0", "1", "2", "3"));
  EXPECT_TRUE(four.are_disjoint);
  EXPECT_THAT(four.warnings, ElementsAre(HasSubstr("4 instances share 2 cores")));
}

TEST(InstanceShares, AreCoresOfSeveralWhereThereIsNoCpuForEach) {
  const Machine machine = *load_described_machine("pack:1 core:2 pu:2");
  const InstanceShares five = share_among_instances(machine, whole_pool(machine), 5, 0);
  EXPECT_THAT(cpus_of(five), ElementsAre("0-1", "0-1", "0-1", "2-3", "2-3"));
  EXPECT_THAT(threads_of(five), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_FALSE(five.are_disjoint);
  EXPECT_THAT(five.warnings, ElementsAre(HasSubstr("5 instances share 2 cores")));
}

TEST(InstanceShares, DivideACpuQuota) {
  const Machine machine = *load_described_machine("pack:1 core:8 pu:1");
  PoolEvidence evidence;
  evidence.quota = PoolEvidence::Limit{4, "the quota"};
  const CpuPool pool = whole_pool(machine, evidence);
  EXPECT_EQ(pool.capacity, 4);
  const InstanceShares two = share_among_instances(machine, pool, 2, 0);
  EXPECT_THAT(cpus_of(two), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(threads_of(two), ElementsAre(2, 2));
  EXPECT_THAT(two.warnings, IsEmpty());
  EXPECT_THAT(share_among_instances(machine, pool, 2, 4).warnings,
              ElementsAre(testing::AllOf(HasSubstr("8 threads share the time of 4 cpus"),
                                         HasSubstr("the quota leaves 4 cpus"))));
}

}  // namespace
}  // namespace hierbar

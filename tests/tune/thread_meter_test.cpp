// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sched.h>

#include <memory>

#include "tune/crossing_team.hpp"

namespace hierbar {
namespace {

EnginePlan flat_plan(std::uint32_t num_participants, std::uint32_t num_leaders = 0) {
  Machine machine;
  machine.units.resize(1);
  return *build_engine_plan(std::vector<LocalityPath>(num_participants), machine,
                            ShapeOptions{.num_leaders = num_leaders});
}

// The cpus that this thread may use, at most two.
std::vector<std::uint32_t> some_cpus() {
  std::vector<std::uint32_t> cpus;
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE && cpus.size() < 2; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(ThreadMeter, MeasuresAPairBothWays) {
  const std::vector<std::uint32_t> cpus = some_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one cpu only";
  const OneWay one_way = make_thread_meter()->one_way(cpus[0], cpus[1]);
  for (const Quartiles& quartiles : {one_way.store, one_way.paused, one_way.cas}) {
    EXPECT_GT(quartiles.lower, 0);
    EXPECT_LE(quartiles.lower, quartiles.median);
    EXPECT_LE(quartiles.median, quartiles.upper);
  }
}

TEST(ThreadMeter, LeavesTheCallersAffinityAsItWas) {
  cpu_set_t before;
  cpu_set_t after;
  sched_getaffinity(0, sizeof before, &before);
  make_thread_meter()->team({some_cpus()[0]}, {flat_plan(1)})->period_ns(0);
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(ThreadMeter, TakesTurnsAmongPlansAlsoWithMoreThreadsThanCpus) {
  const std::vector<std::uint32_t> cpus = some_cpus();
  std::vector<std::uint32_t> of_threads;
  for (std::size_t i = 0; i < 5; ++i) of_threads.push_back(cpus[i % cpus.size()]);
  const auto team =
      make_thread_meter()->team(of_threads, {flat_plan(5, 5), flat_plan(5, 2), flat_plan(5, 1)});
  for (const std::size_t plan : {0, 1, 2, 2, 0, 1}) EXPECT_GT(team->period_ns(plan), 0);
}

TEST(CrossingTeam, CrossesEveryAlgorithm) {
  std::vector<Contestant> contestants;
  for (const NamedAlgorithm& named : kAlgorithms)
    contestants.push_back({named.algorithm, flat_plan(2)});
  const std::vector<std::uint32_t> cpus = some_cpus();
  CrossingTeam team({cpus.front(), cpus.back()}, contestants);
  for (std::size_t i = 0; i < contestants.size(); ++i)
    EXPECT_GT(team.period_ns(i), 0) << kAlgorithms[i].name;
}

}  // namespace
}  // namespace hierbar

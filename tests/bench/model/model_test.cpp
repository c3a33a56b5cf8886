// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The simulated machine does what it was told: its costs come out again, and a broken barrier is
// found in every run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "bench/model/machine/simulator.hpp"
#include "bench/model/trial/trial.hpp"
#include "plan/groups.hpp"
#include "plan/locality.hpp"
#include "tests/support/machines.hpp"

namespace hierbar::bench::model {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kLineBytes = 128;

struct alignas(kLineBytes) Line {
  Word word{0};
};

Machine kunpeng() { return test::make_kunpeng(); }

// Participants on these cpus.
Places places_on(const std::vector<std::uint32_t>& cpus) {
  std::vector<CpuSet> bindings(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) bindings[i].set(cpus[i]);
  return *Places::make(kunpeng(), bindings);
}

std::vector<std::uint32_t> first_cpus(std::uint32_t count) {
  std::vector<std::uint32_t> cpus(count);
  std::iota(cpus.begin(), cpus.end(), 0U);
  return cpus;
}

Storage storage_of(std::vector<Line>& lines) {
  return {reinterpret_cast<std::byte*>(lines.data()), kLineBytes,
          std::vector<std::uint32_t>(lines.size(), 0)};
}

// One way, in ns: a compare-and-swap ping-pong as the published matrices are measured.
double ping_pong(std::uint32_t cpu, std::uint32_t other_cpu, const Parameters& parameters) {
  constexpr std::uint64_t kNumPassages = 400;
  const Places places = places_on({cpu, other_cpu});
  Simulator simulator(places);
  std::vector<Line> lines(1);
  Time end = 0;
  const std::string failure =
      simulator.run(parameters, storage_of(lines), 1, [&](std::uint32_t me) {
        for (std::uint64_t turn = me; turn < kNumPassages;) {
          const std::uint64_t before = simulator.read_modify_write(
              me, lines[0].word,
              [turn](std::uint64_t value) { return value == turn ? value + 1 : value; });
          if (before == turn) turn += 2;
        }
        end = simulator.settle(me);
      });
  EXPECT_EQ(failure, "");
  return end / kNumPassages;
}

TEST(Model, PingPongGivesTheLatencyOfEveryDistance) {
  Parameters parameters;
  parameters.latency = {10, 34, 36, 80, 150};
  EXPECT_NEAR(ping_pong(0, 1, parameters), 34, 2) << "cores of a cluster";
  EXPECT_NEAR(ping_pong(0, 4, parameters), 36, 2) << "cores of an L3";
  EXPECT_NEAR(ping_pong(0, 32, parameters), 80, 4) << "L3s of a package";
  EXPECT_NEAR(ping_pong(0, 64, parameters), 150, 7) << "packages";
}

TEST(Model, EqualSeedsGiveEqualRuns) {
  const Places places = places_on(first_cpus(16));
  Simulator simulator(places);
  const EnginePlan plan = *build_engine_plan(std::vector<LocalityPath>(16), kunpeng(), {});
  Trial trial(places, Algorithm::kMcs, plan);
  const double once = *trial.run(simulator, {}, Metric::kPeriod, 7);
  EXPECT_EQ(*trial.run(simulator, {}, Metric::kPeriod, 7), once);
  EXPECT_NE(*trial.run(simulator, {}, Metric::kPeriod, 8), once);
}

// One writes a word that all others wait for; when the last one has seen it.
Time broadcast(std::uint32_t num_readers, const Parameters& parameters) {
  const Places places = places_on(first_cpus(num_readers + 1));
  Simulator simulator(places);
  std::vector<Line> lines(1);
  Time begin = 0;
  Time end = 0;
  const std::string failure =
      simulator.run(parameters, storage_of(lines), 1, [&](std::uint32_t me) {
        if (me == 0) {
          simulator.spend(0, 5000);
          begin = simulator.settle(0);
          simulator.store(0, lines[0].word, 1);
          return;
        }
        while (simulator.load(me, lines[0].word) == 0) simulator.await_change(me, lines[0].word);
        end = std::max(end, simulator.settle(me));
      });
  EXPECT_EQ(failure, "");
  return end - begin;
}

TEST(Model, ReadersOfOneLineGoOneAfterAnother) {
  Parameters parameters;
  parameters.occupy_local = 10;
  parameters.agent = 0;
  const Time more = broadcast(21, parameters) - broadcast(1, parameters);
  EXPECT_NEAR(more, 20 * 10 + 20 * parameters.invalidate, 25);
}

// Everybody writes a line of its own long before participant 0 reads them all; how long that takes.
Time gather(std::uint32_t num_writers, const Parameters& parameters) {
  const Places places = places_on(first_cpus(num_writers + 1));
  Simulator simulator(places);
  std::vector<Line> lines(num_writers + 1);
  Time begin = 0;
  Time end = 0;
  const std::string failure =
      simulator.run(parameters, storage_of(lines), 1, [&](std::uint32_t me) {
        if (me != 0) return simulator.store(me, lines[me].word, 1);
        simulator.spend(0, 5000);
        begin = simulator.settle(0);
        for (std::uint32_t writer = 1; writer <= num_writers; ++writer)
          simulator.load(0, lines[writer].word);
        end = simulator.settle(0);
      });
  EXPECT_EQ(failure, "");
  return end - begin;
}

TEST(Model, MissesOverlapAsFarAsTheCoreAllows) {
  Parameters parameters;
  parameters.agent = 0;
  parameters.issue = 1;
  parameters.outstanding = 1;
  const double latency = parameters.latency[static_cast<std::size_t>(Distance::kDomain)];
  EXPECT_NEAR(gather(24, parameters), 24 * latency, 60);
  parameters.outstanding = 8;
  EXPECT_NEAR(gather(24, parameters), 3 * latency, 30);
}

TEST(Model, FindsADeadlock) {
  const Places places = places_on({0, 1});
  Simulator simulator(places);
  std::vector<Line> lines(1);
  const std::string failure = simulator.run({}, storage_of(lines), 1, [&](std::uint32_t me) {
    while (me == 1 && simulator.load(1, lines[0].word) == 0 && !simulator.is_stopped()) {
      simulator.await_change(1, lines[0].word);
    }
  });
  EXPECT_THAT(failure, HasSubstr("deadlock"));
}

// Six leaders, of which the others do not know one, which is far away and late.
TEST(Model, FindsABarrierThatDoesNotWaitForEverybody) {
  std::vector<std::uint32_t> cpus = first_cpus(6);
  cpus.back() = 64;
  const Places places = places_on(cpus);
  Simulator simulator(places);
  Parameters parameters;
  parameters.latency.back() = 2000;
  EnginePlan plan = *build_engine_plan(std::vector<LocalityPath>(6), kunpeng(), {});
  ASSERT_TRUE(
      Trial(places, Algorithm::kHier, plan).run(simulator, parameters, Metric::kPeriod, 1).ok());
  ASSERT_EQ(plan.leaders.size(), 6U);
  plan.leaders.pop_back();
  const Result<double> broken =
      Trial(places, Algorithm::kHier, plan).run(simulator, parameters, Metric::kPeriod, 1);
  ASSERT_FALSE(broken.ok());
  EXPECT_THAT(broken.error(), HasSubstr("before all had entered it"));
}

TEST(Model, FindsABarrierThatHangs) {
  const Places places = places_on(first_cpus(20));
  Simulator simulator(places);
  std::vector<CpuSet> bindings(20);
  for (std::uint32_t i = 0; i < 20; ++i) bindings[i].set(i);
  EnginePlan plan = *build_engine_plan(locate_all(kunpeng(), bindings), kunpeng(), {});
  ASSERT_FALSE(plan.children.empty());
  const std::uint32_t child = plan.children.back();
  --plan.nodes[plan.nodes[child].parent].num_children;
  const Result<double> broken =
      Trial(places, Algorithm::kHier, plan).run(simulator, {}, Metric::kIsolated, 1);
  ASSERT_FALSE(broken.ok());
}

class EveryAlgorithm : public testing::TestWithParam<NamedAlgorithm> {};

TEST_P(EveryAlgorithm, RunsUnchangedOnEveryMapping) {
  for (const Mapping mapping : {Mapping::kCore, Mapping::kNuma, Mapping::kPackage}) {
    const Machine machine = kunpeng();
    const std::vector<CpuSet> bindings = *map_participants(machine, mapping, 128);
    const Places places = *Places::make(machine, bindings);
    const std::vector<LocalityPath> paths = locate_all(machine, bindings);
    EnginePlan plan = *build_engine_plan(paths, machine, {});
    if (GetParam().algorithm == Algorithm::kTopo) {
      plan = *build_group_plan(build_group_tree(paths, machine, {Level::kNuma, Level::kPackage}),
                               plan);
    }
    Simulator simulator(places);
    Trial trial(places, GetParam().algorithm, plan);
    for (const Metric metric : {Metric::kPeriod, Metric::kIsolated}) {
      const Result<double> ns = trial.run(simulator, {}, metric, 3);
      ASSERT_TRUE(ns.ok()) << ns.error();
      EXPECT_GT(*ns, 300);
      EXPECT_LT(*ns, 100'000);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Model, EveryAlgorithm, testing::ValuesIn(kAlgorithms),
                         [](const auto& instance) {
                           std::string name(instance.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hierbar::bench::model

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether the measurement finds what the simulated network has.

#include <gmock/gmock.h>

#include <set>

#include "network/measure.hpp"
#include "network/workers.hpp"
#include "tests/network/simulator.hpp"

namespace hierbar::network {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SimulatedPair : public ExperimentRunner {
 public:
  SimulatedPair(const Parameters& parameters, const Disturbance& disturbance)
      : network_(test::uniform(parameters)), disturbance_(disturbance) {}
  double run_us(const Experiment& experiment) override {
    ++disturbance_.seed;
    const auto stamps = simulate(
        {program_of(experiment, Side::kClient, 1), program_of(experiment, Side::kServer, 0)},
        network_, disturbance_);
    return stamps[0].at(1) - stamps[0].at(0);
  }

 private:
  Network network_;
  Disturbance disturbance_;
};

PairMeasurement measured(const Parameters& parameters, const Disturbance& disturbance = {}) {
  SimulatedPair pair(parameters, disturbance);
  return measure_pair(pair, 101);
}

// Within 5 %, or 5 ns of what is near 0.
void expect_near(const Parameters& found, const Parameters& right) {
  const auto near = [](const char* name, double value, double wanted) {
    EXPECT_NEAR(value, wanted, std::max(0.05 * wanted, 0.005)) << name;
  };
  near("L", found.latency_us, right.latency_us);
  near("o_s", found.send_overhead_us, right.send_overhead_us);
  near("o_r", found.receive_overhead_us, right.receive_overhead_us);
  near("g", found.gap_us, right.gap_us);
  EXPECT_NEAR(found.gap_per_byte_us, right.gap_per_byte_us, 0.05 * right.gap_per_byte_us) << "G";
}

constexpr Parameters kInfiniBand{1.2, 0.3, 0.5, 0.2, 0.001};
constexpr Parameters kTcp{18, 3, 4, 1, 0.008};
constexpr Parameters kWan{1000, 5, 8, 12, 0.01};

TEST(Measure, FindsTheParametersOfTheSimulator) {
  for (const Parameters& right : {kInfiniBand, kTcp, kWan}) {
    const PairMeasurement found = measured(right);
    SCOPED_TRACE(describe(right));
    expect_near(found.parameters, right);
    EXPECT_THAT(found.notes, IsEmpty());
  }
}

TEST(Measure, ANoisyNetworkHasTheSameMedians) {
  for (const Parameters& right : {kInfiniBand, kTcp}) {
    const PairMeasurement found = measured(right, {0.02, 0.02, 0, 1});
    SCOPED_TRACE(describe(right) + "; found " + describe(found.parameters));
    EXPECT_NEAR(found.parameters.latency_us, right.latency_us, 0.05 * right.latency_us);
    EXPECT_NEAR(found.parameters.receive_overhead_us, right.receive_overhead_us,
                0.05 * right.receive_overhead_us);
  }
}

// Empty messages never show a gap below the overhead, and a barrier sends no others.
TEST(Measure, AGapBehindTheOverheadIsTold) {
  const PairMeasurement found = measured({1.37, 0.43, 123.8, 0.22, 0});
  EXPECT_THAT(found.notes, Contains(HasSubstr("g is the larger overhead")));
  EXPECT_NEAR(found.parameters.gap_us, 123.8, 0.01);
  EXPECT_NEAR(found.parameters.latency_us, 1.37, 0.05);
}

// The trap of a latency that has the overheads in it: RTT / 2 alone would be 125.6 here.
TEST(Measure, TheLatencyIsWithoutTheOverheads) {
  EXPECT_NEAR(measured({0, 0.43, 123.8, 0.22, 0}).parameters.latency_us, 0, 0.01);
}

class FixedTimes : public ExperimentRunner {
 public:
  // A late receive that takes longer than a round trip cannot be.
  double run_us(const Experiment& experiment) override {
    return experiment.what == Experiment::What::kLateReceive ? 50 : 10;
  }
};

TEST(Measure, WhatCannotBeIsClampedAndTold) {
  FixedTimes runner;
  const PairMeasurement found = measure_pair(runner, 3);
  EXPECT_EQ(found.parameters.latency_us, 0);
  EXPECT_THAT(found.notes, Contains(HasSubstr("L came out as")));
}

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(PairClasses, OfFewNodesAllPairsAreTaken) {
  EXPECT_THAT(sample_pairs(2, 64), ElementsAre(NodePair{0, 1}));
  EXPECT_THAT(sample_pairs(8, 64), SizeIs(28));
}

TEST(PairClasses, OfManyNodesAFewPairsOfEveryDistanceAreTaken) {
  for (const std::uint32_t num_nodes : {12U, 100U, 1024U, 5000U}) {
    const std::vector<NodePair> pairs = sample_pairs(num_nodes, 64);
    EXPECT_LE(pairs.size(), 64U);
    EXPECT_GE(pairs.size(), 32U);
    EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), pairs.size()) << "a pair twice";
    std::set<std::uint32_t> distances;
    for (const auto& [from, to] : pairs) {
      ASSERT_LT(from, to);
      ASSERT_LT(to, num_nodes);
      distances.insert(to - from);
    }
    EXPECT_GE(distances.size(), 4U);
  }
}

TEST(PairClasses, EqualRoundTripsAreOneClass) {
  const Grouping grouping = group_pairs(sample_pairs(4, 64), {20, 21, 22, 24, 19, 23}, {});
  EXPECT_THAT(grouping.names, ElementsAre("round trips of some 22 us"));
  EXPECT_THAT(grouping.classes, ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(PairClasses, AClearlyLongerRoundTripBeginsAClass) {
  const Grouping grouping = group_pairs(sample_pairs(4, 64), {20, 60, 21, 62, 200, 61}, {});
  EXPECT_THAT(grouping.names, SizeIs(3));
  EXPECT_THAT(grouping.classes, ElementsAre(0, 1, 0, 1, 2, 1));
}

TEST(PairClasses, ThereAreNotMoreClassesThanAllowed) {
  std::vector<double> round_trips;
  for (double us = 1; us < 1e6; us *= 2) round_trips.push_back(us);
  EXPECT_THAT(group_pairs(sample_pairs(7, 64), round_trips, {}).names, SizeIs(kMostPairClasses));
}

TEST(PairClasses, SlurmsSwitchesDecideWhereTheyAreKnown) {
  const char* const pattern = "switch.switch.node";
  const std::vector<NodeAddress> addresses{{"top.s1.n1", pattern},
                                           {"top.s1.n2", pattern},
                                           {"top.s2.n3", pattern},
                                           {"other.s9.n4", pattern}};
  const Grouping grouping = group_pairs({{0, 1}, {0, 2}, {1, 2}, {0, 3}}, {5, 5, 5, 5}, addresses);
  EXPECT_THAT(grouping.names, ElementsAre("same switch", "1 switch up", "no common switch"));
  EXPECT_THAT(grouping.classes, ElementsAre(0, 1, 1, 2));
}

// Slurm without a topology plugin has the node's name only.
TEST(PairClasses, AddressesWithoutSwitchesAreNotUsed) {
  const Grouping grouping = group_pairs({{0, 1}}, {5}, {{"n1", "node"}, {"n2", "node"}});
  EXPECT_THAT(grouping.names, ElementsAre("round trips of some 5 us"));
}

TEST(PairClasses, AClassHasTheQuartilesOfItsMeasurements) {
  const PairClass all = summarize("all", 1, {{1, 10, 0, 0, 0}, {2, 20, 0, 0, 0}, {3, 60, 0, 0, 0}});
  EXPECT_EQ(all.latency_us, (Quartiles{1.5, 2, 2.5}));
  EXPECT_EQ(all.send_overhead_us, (Quartiles{15, 20, 40}));
}

TEST(WorkerPlan, IsReadAsItWasWritten) {
  const WorkerPlan plan{.time_limit_s = 12.5,
                        .most_pairs = 3,
                        .oversubscribed = true,
                        .sizes = {1024, 4096},
                        .channels = {{"l3", {{0, 1}, {2, 3}}}, {"network", {}}}};
  const Result<WorkerPlan> read = read_worker_plan(worker_arguments(plan));
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(*read, plan);
  EXPECT_EQ(*read_worker_plan(worker_arguments({})), WorkerPlan{});
}

TEST(WorkerPlan, SaysWhatItDoesNotUnderstand) {
  EXPECT_THAT(read_worker_plan({"--pairs"}).error(), HasSubstr("'--pairs' has no value"));
  EXPECT_THAT(read_worker_plan({"--speed", "1"}).error(), HasSubstr("'--speed' is no option"));
  EXPECT_THAT(read_worker_plan({"--channel", "l3"}).error(), HasSubstr("no channel"));
  EXPECT_THAT(read_worker_plan({"--channel", "l3=0-1,2"}).error(), HasSubstr("'2' is no pair"));
  EXPECT_THAT(read_worker_plan({"--channel", "l3=0-1x"}).error(), HasSubstr("no pair"));
}

TEST(WorkerPlan, LinesBecomeCells) {
  Contention contention;
  ASSERT_TRUE(put_cell_line("network 1048576 2 1.5 2 2.5", contention).ok());
  EXPECT_EQ(contention.tables[ChannelKind::kNetwork].time_us(1048576, 2), (Quartiles{1.5, 2, 2.5}));
  for (const char* line : {"", "wire 1 1 1 1 1", "l3 0 1 1 1 1", "l3 1 0 1 1 1", "l3 1 1 1 1",
                           "l3 1 1 0 1 1", "l3 1 1 nan 1 1"}) {
    EXPECT_FALSE(put_cell_line(line, contention).ok()) << line;
  }
}

}  // namespace
}  // namespace hierbar::network

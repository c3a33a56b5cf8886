// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether the measurement finds what the simulated network has.

#include "network/measure.hpp"

#include <gmock/gmock.h>

#include "networks.hpp"
#include "simulator.hpp"

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
    const auto stamps =
        simulate({program_of(experiment, Side::kClient, 1), program_of(experiment, Side::kServer, 0)}, network_, disturbance_);
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
    EXPECT_NEAR(found.parameters.receive_overhead_us, right.receive_overhead_us, 0.05 * right.receive_overhead_us);
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
  double run_us(const Experiment& experiment) override { return experiment.what == Experiment::What::kLateReceive ? 50 : 10; }
};

TEST(Measure, WhatCannotBeIsClampedAndTold) {
  FixedTimes runner;
  const PairMeasurement found = measure_pair(runner, 3);
  EXPECT_EQ(found.parameters.latency_us, 0);
  EXPECT_THAT(found.notes, Contains(HasSubstr("L came out as")));
}

}  // namespace
}  // namespace hierbar::network

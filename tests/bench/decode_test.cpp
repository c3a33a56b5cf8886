// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The graph of a decode, and what is reckoned from its samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/common/decode_graph.hpp"
#include "bench/common/floors/spin_decode.hpp"
#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/statistics.hpp"

namespace hierbar::bench {
namespace {

TEST(Decode, SizesAreTheSameForTheSameSeed) {
  EXPECT_EQ(operation_times_ns({.num_operations = 50, .seed = 7}),
            operation_times_ns({.num_operations = 50, .seed = 7}));
  EXPECT_NE(operation_times_ns({.num_operations = 50, .seed = 7}),
            operation_times_ns({.num_operations = 50, .seed = 8}));
  // A longer graph begins like a shorter one.
  EXPECT_EQ(operation_times_ns({.num_operations = 3}).back(), operation_times_ns({})[2]);
}

TEST(Decode, SizesAreDistributedEvenlyByTheirLogarithm) {
  const DecodeGraph graph{.num_operations = 20000, .seed = 3};
  const std::vector<double> times = operation_times_ns(graph);
  ASSERT_EQ(times.size(), 20000U);
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  EXPECT_GE(*least, kShortestOperationNs);
  EXPECT_LE(*most, kLongestOperationNs);
  EXPECT_NEAR(*median(times), std::sqrt(kShortestOperationNs * kLongestOperationNs), 300);
  EXPECT_NEAR(graph_work_ns(graph) / 20000, 12526, 250);
  EXPECT_NEAR(graph_work_ns({}), 25e6, 1e6) << "the default graph, which every report names";
}

TEST(Decode, WorkThatIsGivenScalesEverySize) {
  const std::vector<double> drawn = operation_times_ns({.num_operations = 40});
  const std::vector<double> scaled = operation_times_ns({.num_operations = 40, .work_ms = 8});
  EXPECT_NEAR(std::accumulate(scaled.begin(), scaled.end(), 0.0), 8e6, 1);
  EXPECT_NEAR(scaled[0] / scaled[39], drawn[0] / drawn[39], 1e-9);
}

// What a part does shows only in its time, so the lines are counted by two graphs.
TEST(Decode, PartsTakeAsMuchTimeAsTheirShareOfTheWork) {
  const std::vector<long> operations(200, 4000);
  const auto least_ns = [&](int thread, int num_threads) {
    DecodePart part(operations, thread, num_threads);
    double least = 1e12;
    for (int i = 0; i < 5; ++i) least = std::min(least, part.cpu_ns_alone());
    return least;
  };
  const double all = least_ns(0, 1);
  double parts = 0;
  for (int thread = 0; thread < 3; ++thread) {
    parts += least_ns(thread, 3);
    EXPECT_LT(least_ns(thread, 3), all / 2);
  }
  EXPECT_GT(parts, all / 2);
  EXPECT_LT(parts, all * 2);
}

TEST(Decode, MeasuresThreeGraphsAtLeastEachBesideItsIdeal) {
  int num_ideals = 0;
  const DecodeSamples samples = measure_decode(
      1e6, [] { return 7.0; }, [&num_ideals] { return static_cast<double>(num_ideals++); });
  ASSERT_GE(samples.graph.size(), 3U);
  ASSERT_EQ(samples.ideal.size(), samples.graph.size());
  EXPECT_EQ(samples.ideal.front(), 1) << "the first one is a warm-up";
}

TEST(Decode, SynchronisationIsTheShareOfEachSampleThatIsNotItsIdeal) {
  Group group;
  group.blocks = {{0, 42, 42, true}, {1, 42, 42, false}};
  Series series{"hier", Family::kHier, "", {}, {}};
  series.samples = {{0, {100, 200, 400}}, {1, {1000}}};
  EXPECT_FALSE(sync_share_of(group, series));
  EXPECT_FALSE(ideal_of(group, series));
  series.ideal = {{0, {90, 100, 100}}, {1, {1}}};
  EXPECT_DOUBLE_EQ(sync_share_of(group, series)->median, 0.5);
  EXPECT_DOUBLE_EQ(sync_share_of(group, series)->minimum, 0.1);
  EXPECT_DOUBLE_EQ(sync_share_of(group, series)->maximum, 0.75);
  EXPECT_DOUBLE_EQ(ideal_of(group, series)->median, 100);
}

// A barrier that lets a thread through too early would give a graph the time of its work alone at
// best; one that loses a thread would never end.
TEST(Decode, SpinsWithoutARuntime) {
  const std::vector<int> cpus = describe_host().cpus;
  if (cpus.size() < 2) GTEST_SKIP() << "one cpu";
  const DecodeSamples samples =
      measure_spin_decode({cpus[0], cpus[1]}, std::chrono::milliseconds(1), {.num_operations = 30});
  ASSERT_FALSE(samples.graph.empty());
  ASSERT_EQ(samples.ideal.size(), samples.graph.size());
  EXPECT_GT(*std::min_element(samples.graph.begin(), samples.graph.end()), 0);
  const double nominal_ns = graph_work_ns({.num_operations = 30}) / 2;
  EXPECT_GT(*median(samples.ideal), nominal_ns / 3);
  EXPECT_LT(*median(samples.ideal), nominal_ns * 3);
}

}  // namespace
}  // namespace hierbar::bench

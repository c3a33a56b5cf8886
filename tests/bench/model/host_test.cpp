// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/host/host.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace hierbar::bench::model {
namespace {

double predicted(std::size_t which, double one_way, double poll_spacing) {
  const auto prediction = predict(kHostCases[which], pair_costs(one_way, poll_spacing));
  EXPECT_TRUE(prediction.ok());
  return prediction.ok() ? prediction->period_ns : 0;
}

// As the ping-pong of runtime/tune plays it: one word that the two write in turn and poll.
TEST(PairSimulator, GivesThePingPongBack) {
  for (const double one_way : {10., 60., 200.}) {
    PairSimulator simulator;
    PairSimulator::Word word{0};
    double end_ns = 0;
    const std::string failure = simulator.run(
        pair_costs(one_way, 0), reinterpret_cast<std::byte*>(&word), 1, 128, [&](std::uint32_t me) {
          for (std::uint64_t value = me; value < 2000; value += 2) {
            while (simulator.load(me, word) != value && !simulator.is_stopped()) {
            }
            simulator.store(me, word, value + 1);
          }
          end_ns = std::max(end_ns, simulator.now(me));
        });
    EXPECT_EQ(failure, "");
    EXPECT_NEAR(end_ns / 2000, one_way, 4) << "a look and a store take a ns each";
  }
}

TEST(PairSimulator, ADeadlockEnds) {
  PairSimulator simulator;
  PairSimulator::Word word{0};
  EXPECT_NE(simulator.run(pair_costs(60, 30), reinterpret_cast<std::byte*>(&word), 1, 128,
                          [&](std::uint32_t me) {
                            while (simulator.load(me, word) == 0 && !simulator.is_stopped())
                              simulator.pass(me, 30);
                          }),
            "");
}

// Far apart nothing counts but the transactions, of which a passage of the ping-pong has two.
TEST(Host, FarApartAPeriodIsItsTransactions) {
  EXPECT_NEAR(predicted(0, 1000, 26), 2 * 500, 50);
  EXPECT_NEAR(predicted(1, 1000, 26), 3 * 500, 100);
  EXPECT_NEAR(predicted(2, 1000, 26), 4 * 500, 100);
}

// Medians measured on an EPYC (Zen 5, pause 26 ns), near and far.
TEST(Host, PredictsWhatWasMeasuredWithin25Percent) {
  const double near[] = {42, 66, 95};
  const double far[] = {209, 285, 425};
  for (std::size_t i = 0; i < kHostCases.size(); ++i) {
    EXPECT_NEAR(predicted(i, 27, 26) / near[i], 1, 0.25) << kHostCases[i].name;
    EXPECT_NEAR(predicted(i, 209, 26) / far[i], 1, 0.25) << kHostCases[i].name;
  }
}

TEST(Host, IsTheSameEveryTime) { EXPECT_EQ(predicted(1, 60, 39), predicted(1, 60, 39)); }

// The figures depend on the machine and on what else it does; that they come is what is tested.
TEST(Host, MeasuresWhatItPredicts) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  if (cpus.size() < 2) GTEST_SKIP() << "one cpu only";
  const KnownPair known{60, 13};
  for (const KnownPair* given : {static_cast<const KnownPair*>(nullptr), &known}) {
    const auto report = compare_on_host({cpus[0], cpus[1]}, given, 1);
    ASSERT_TRUE(report.ok());
    for (const HostRow& row : report->rows) {
      EXPECT_GT(row.measured_ns.median, 0);
      EXPECT_GT(row.predicted.period_ns, 0);
      EXPECT_GE(row.predicted.num_transfers, 0.4);
    }
    if (given != nullptr) {
      EXPECT_EQ(report->one_way_ns.median, 60);
    }
  }
}

}  // namespace
}  // namespace hierbar::bench::model

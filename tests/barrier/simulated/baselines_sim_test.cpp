// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The baselines under the oracle on simulated memory. A failure names its seed. To repeat it:
// HIERBAR_TEST_SEED=<seed> baselines_sim_test --gtest_filter=*<case>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim_trial.hpp"
#include "tests/barrier/baseline_shapes.hpp"
#include "tests/barrier/baseline_subject.hpp"

namespace hierbar::test {
namespace {

// So many take 20 seconds. HIERBAR_TEST_SCHEDULES=10000 takes three minutes; it is for changes of a
// baseline.
std::uint64_t num_schedules(const TestPlan& plan) { return plan.view().num_participants <= 16 ? 2'000 : 500; }

const std::vector<BaselineCase>& cases() {
  static const std::vector<BaselineCase> all = baseline_cases({1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64});
  return all;
}

class BaselineOnSimulatedMemory : public testing::TestWithParam<std::size_t> {};

TEST_P(BaselineOnSimulatedMemory, KeepsTheOracleUnderEverySchedule) {
  const auto& [algorithm, plan] = cases()[GetParam()];
  SimTrial<SimMem, BaselineSubject> trial(plan, {algorithm});
  const Seeds seeds = chosen_seeds(num_schedules(plan));
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Outcome outcome = trial.run(seed);
    ASSERT_EQ(outcome.failure, Failure::kNone)
        << cases()[GetParam()].name() << " fails: " << outcome.what << "\nagain: HIERBAR_TEST_SEED=" << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BaselineOnSimulatedMemory, testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& instance) { return cases()[instance.param].name(); });

}  // namespace
}  // namespace hierbar::test

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The barrier oracle with threads, of which there are more than cpus. The test itself never sleeps:
// a barrier that hangs becomes a ctest timeout.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/membarrier.hpp"
#include "tests/barrier/baseline_subject.hpp"
#include "tests/barrier/thread_trial.hpp"

namespace hierbar::test {
namespace {

const std::vector<TestPlan>& shapes() {
  static const std::vector<TestPlan> plans = [] {
    std::vector<TestPlan> all;
    for (const std::uint32_t count : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U})
      all.push_back(make_flat(count));
    for (const std::uint32_t crews : {1U, 2U, 5U}) all.push_back(make_crews(7, crews));
    all.push_back(make_forest("tree_5_flags", {{5}, 2, HIERBAR_RELEASE_FLAGS}));
    all.push_back(make_forest("domains_2x3_flags", {{3, 3}, 2, HIERBAR_RELEASE_FLAGS}));
    all.push_back(make_forest("domains_2x4_lines", {{4, 4}, 3, HIERBAR_RELEASE_LINES}));
    all.push_back(make_forest("domains_3x3_round_lines",
                              {{3, 3, 3}, 2, HIERBAR_RELEASE_LINES, Numbering::kRound}));
    all.push_back(make_forest("groups_16_flags",
                              {{4, 4, 4, 4}, 2, HIERBAR_RELEASE_FLAGS, Numbering::kBlocks, 2}));
    return all;
  }();
  return plans;
}

class BarrierOfThreads : public ThreadsTest<shapes> {
 protected:
  static EngineSubject subject() { return {fencing()}; }
};

TEST_P(BarrierOfThreads, KeepsTheOracle) {
  expect_oracle_kept(plan(), policy(), subject(), /*num_seeds=*/16);
}

TEST_P(BarrierOfThreads, WaitsForALateParticipant) {
  expect_late_participant_awaited(plan(), policy(), subject());
}

TEST_P(BarrierOfThreads, EndsEveryWaitWhenAborted) {
  expect_every_wait_ends_when_aborted(plan(), policy(), subject());
}

INSTANTIATE_TEST_SUITE_P(Shapes, BarrierOfThreads, BarrierOfThreads::cases(),
                         BarrierOfThreads::name_of);

TEST(BarrierOfSleepers, WakesTheOneThatSleepsAlready) {
  for (const TestPlan& plan : plans_with_sleepers()) {
    expect_first_sleeper_woken(plan, EngineSubject{});
    if (can_fence_threads()) expect_first_sleeper_woken(plan, EngineSubject{Fencing::kBySleepers});
  }
}

const std::vector<BaselineCase>& cases() {
  static const std::vector<BaselineCase> all = baseline_cases({1, 2, 3, 5, 8, 9, 16});
  return all;
}

class BaselineOfThreads : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  static const TestPlan& plan() { return cases()[std::get<0>(GetParam())].plan; }
  static BaselineSubject subject() { return {cases()[std::get<0>(GetParam())].algorithm}; }
  static const WaitPolicy& policy() { return kWaitings[std::get<1>(GetParam())].policy; }
};

TEST_P(BaselineOfThreads, KeepsTheOracle) {
  expect_oracle_kept(plan(), policy(), subject(), /*num_seeds=*/4);
}

TEST_P(BaselineOfThreads, WaitsForALateParticipant) {
  expect_late_participant_awaited(plan(), policy(), subject());
}

TEST_P(BaselineOfThreads, EndsEveryWaitWhenAborted) {
  expect_every_wait_ends_when_aborted(plan(), policy(), subject());
}

std::string name_of_case(
    const testing::TestParamInfo<std::tuple<std::size_t, std::size_t>>& instance) {
  return cases()[std::get<0>(instance.param)].name() + "_" +
         kWaitings[std::get<1>(instance.param)].name;
}

INSTANTIATE_TEST_SUITE_P(Cases, BaselineOfThreads,
                         testing::Combine(testing::Range<std::size_t>(0, cases().size()),
                                          testing::Range<std::size_t>(0, kWaitings.size())),
                         name_of_case);

class BaselineOfSleepers : public testing::TestWithParam<std::size_t> {};

TEST_P(BaselineOfSleepers, WakesTheOneThatSleepsAlready) {
  const auto& [algorithm, plan] = cases()[GetParam()];
  expect_first_sleeper_woken(plan, BaselineSubject{algorithm});
}

INSTANTIATE_TEST_SUITE_P(Cases, BaselineOfSleepers, testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& instance) { return cases()[instance.param].name(); });

}  // namespace
}  // namespace hierbar::test

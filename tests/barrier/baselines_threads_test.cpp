// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The baselines under the oracle with threads, of which there are more than cpus.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "baseline_shapes.hpp"
#include "baseline_subject.hpp"
#include "thread_checks.hpp"

namespace hierbar::test {
namespace {

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

TEST_P(BaselineOfThreads, KeepsTheOracle) { expect_oracle_kept(plan(), policy(), subject(), /*num_seeds=*/4); }

TEST_P(BaselineOfThreads, WaitsForALateParticipant) { expect_late_participant_awaited(plan(), policy(), subject()); }

TEST_P(BaselineOfThreads, EndsEveryWaitWhenAborted) { expect_every_wait_ends_when_aborted(plan(), policy(), subject()); }

std::string name_of(const testing::TestParamInfo<std::tuple<std::size_t, std::size_t>>& instance) {
  return cases()[std::get<0>(instance.param)].name() + "_" + kWaitings[std::get<1>(instance.param)].name;
}

INSTANTIATE_TEST_SUITE_P(Cases, BaselineOfThreads,
                         testing::Combine(testing::Range<std::size_t>(0, cases().size()),
                                          testing::Range<std::size_t>(0, kWaitings.size())),
                         name_of);

class BaselineOfSleepers : public testing::TestWithParam<std::size_t> {};

TEST_P(BaselineOfSleepers, WakesTheOneThatSleepsAlready) {
  const auto& [algorithm, plan] = cases()[GetParam()];
  expect_first_sleeper_woken(plan, BaselineSubject{algorithm});
}

INSTANTIATE_TEST_SUITE_P(Cases, BaselineOfSleepers, testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& instance) { return cases()[instance.param].name(); });

}  // namespace
}  // namespace hierbar::test

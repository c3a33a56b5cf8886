// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The barrier oracle with threads. More threads than cpus, and never a sleep in the test itself: what hangs is a ctest timeout.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "thread_trial.hpp"

namespace hierbar::test {
namespace {

struct Waiting {
  const char* name;
  WaitPolicy policy;
};

const std::vector<Waiting> kWaitings = {
    {"spinning", {.spin_looks = 200, .yields = 16, .sleeps = false}},
    {"yielding", {.spin_looks = 0, .yields = 0, .sleeps = false}},
    {"sleeping", {.spin_looks = 0, .yields = 0, .sleeps = true, .sleep_limit_ns = kOneHourNs}},
    {"mixed", {.spin_looks = 20, .yields = 2, .sleeps = true, .sleep_limit_ns = kOneHourNs}},
};

const std::vector<TestPlan>& shapes() {
  static const std::vector<TestPlan> plans = [] {
    std::vector<TestPlan> all;
    for (const std::uint32_t count : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U}) all.push_back(make_flat(count));
    all.push_back(make_forest("tree_5_flags", {{5}, 2, HIERBAR_RELEASE_FLAGS}));
    all.push_back(make_forest("domains_2x3_flags", {{3, 3}, 2, HIERBAR_RELEASE_FLAGS}));
    all.push_back(make_forest("domains_2x4_lines", {{4, 4}, 3, HIERBAR_RELEASE_LINES}));
    all.push_back(make_forest("domains_3x3_round_lines", {{3, 3, 3}, 2, HIERBAR_RELEASE_LINES, Numbering::kRound}));
    all.push_back(make_forest("groups_16_flags", {{4, 4, 4, 4}, 2, HIERBAR_RELEASE_FLAGS, Numbering::kBlocks, 2}));
    return all;
  }();
  return plans;
}

class BarrierOfThreads : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  static const TestPlan& plan() { return shapes()[std::get<0>(GetParam())]; }
  static const WaitPolicy& policy() { return kWaitings[std::get<1>(GetParam())].policy; }
};

// The seeds include every kind of first epoch: zero, before the wrap-around, before the sign boundary, any.
TEST_P(BarrierOfThreads, KeepsTheOracle) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    ASSERT_EQ(play_oracle(plan(), policy(), seed, /*num_rounds=*/50), "") << "seed " << seed;
  }
}

TEST_P(BarrierOfThreads, WaitsForALateParticipant) {
  const std::uint32_t count = plan().view().num_participants;
  for (const std::uint32_t late : {0U, count / 2, count - 1}) {
    ASSERT_EQ(play_oracle(plan(), policy(), late, /*num_rounds=*/5, late), "") << "late: " << late;
  }
}

TEST_P(BarrierOfThreads, EndsEveryWaitWhenAborted) {
  const std::uint32_t count = plan().view().num_participants;
  const std::uint32_t missing = count - 1;
  WaitPolicy waiting = policy();
  waiting.sleep_limit_ns = 1'000'000;  // sleepers look at `aborted` now and then
  ThreadTrial trial(plan(), waiting);
  std::vector<WaitResult> results(count, WaitResult::kReleased);
  trial.run([&](ThreadMem& mem, std::uint32_t me) {
    if (me != missing) {
      results[me] = trial.barrier().cross(mem, me, 0).result;
      return;
    }
    for (std::uint32_t p = 0; p < missing && waiting.sleeps; ++p) {
      while (!trial.is_parked(p)) sched_yield();
    }
    trial.aborted() = 1;
  });
  for (std::uint32_t p = 0; p < missing; ++p) EXPECT_EQ(results[p], WaitResult::kAborted) << "participant " << p;
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::size_t, std::size_t>>& instance) {
  return shapes()[std::get<0>(instance.param)].name() + "_" + kWaitings[std::get<1>(instance.param)].name;
}

INSTANTIATE_TEST_SUITE_P(Shapes, BarrierOfThreads,
                         testing::Combine(testing::Range<std::size_t>(0, shapes().size()),
                                          testing::Range<std::size_t>(0, kWaitings.size())),
                         name_of);

// In every round another participant comes first and is asleep, or about to be, before anybody else arrives.
TEST(BarrierOfSleepers, WakesTheOneThatSleepsAlready) {
  constexpr std::uint32_t kNumRounds = 60;
  for (const TestPlan& plan : {make_flat(2), make_flat(4), make_forest("flags", {{3, 2}, 2, HIERBAR_RELEASE_FLAGS}),
                               make_forest("lines", {{3, 2}, 2, HIERBAR_RELEASE_LINES})}) {
    ThreadTrial trial(plan, {.spin_looks = 0, .yields = 0, .sleeps = true, .sleep_limit_ns = kOneHourNs});
    const std::uint32_t count = trial.plan().num_participants;
    trial.run([&](ThreadMem& mem, std::uint32_t me) {
      for (std::uint32_t round = 0; round < kNumRounds; ++round) {
        const std::uint32_t first = round % count;
        while (me != first && !trial.is_parked(first)) sched_yield();
        EXPECT_EQ(trial.barrier().cross(mem, me, 0).result, WaitResult::kReleased);
        EXPECT_EQ(trial.barrier().cross(mem, me, 0).result, WaitResult::kReleased);
      }
    });
  }
}

}  // namespace
}  // namespace hierbar::test

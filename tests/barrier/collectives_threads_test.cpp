// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The barrier oracle with threads: episodes that carry data, and one-way operations.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/membarrier.hpp"
#include "tests/barrier/collective_subject.hpp"
#include "tests/barrier/one_way_subject.hpp"
#include "tests/barrier/thread_trial.hpp"

namespace hierbar::test {
namespace {

const std::vector<TestPlan>& shapes() {
  static const std::vector<TestPlan> plans = [] {
    std::vector<TestPlan> all;
    for (const std::uint32_t count : {1U, 2U, 3U, 4U, 8U}) all.push_back(make_flat(count));
    for (const std::uint32_t crews : {1U, 2U, 5U}) all.push_back(make_crews(7, crews));
    all.push_back(make_crews(2, 1));
    all.push_back(make_forest("tree_5_flags", {{5}, 2, HIERBAR_RELEASE_FLAGS}));
    all.push_back(make_forest("domains_2x3_flags", {{3, 3}, 2, HIERBAR_RELEASE_FLAGS}));
    all.push_back(make_forest("domains_3x3_round_lines",
                              {{3, 3, 3}, 2, HIERBAR_RELEASE_LINES, Numbering::kRound}));
    all.push_back(make_forest("groups_16_flags",
                              {{4, 4, 4, 4}, 2, HIERBAR_RELEASE_FLAGS, Numbering::kBlocks, 2}));
    return all;
  }();
  return plans;
}

const CallSizes kAllSizes = {Collectives<ThreadMem>::kMostBytes, {1, 2, 4, 8, 12, 16}};

class CollectivesOfThreads : public ThreadsTest<shapes> {
 protected:
  static CollectiveSubject subject() { return {fencing(), kAllSizes}; }
  static OneWaySubject one_way() { return {fencing(), {20, kAllSizes}}; }
};

TEST_P(CollectivesOfThreads, KeepTheOracle) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ASSERT_EQ(play_oracle(plan(), policy(), subject(), seed, /*num_rounds=*/25), "")
        << "seed " << seed;
  }
}

TEST_P(CollectivesOfThreads, KeepTheOracleIfOneWay) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ASSERT_EQ(play_oracle(plan(), policy(), one_way(), seed, /*num_rounds=*/4), "")
        << "seed " << seed;
  }
}

TEST_P(CollectivesOfThreads, WaitForALateParticipant) {
  expect_late_participant_awaited(plan(), policy(), subject());
}

TEST_P(CollectivesOfThreads, EndEveryWaitWhenAborted) {
  expect_every_wait_ends_when_aborted(plan(), policy(), subject());
}

INSTANTIATE_TEST_SUITE_P(Shapes, CollectivesOfThreads, CollectivesOfThreads::cases(),
                         CollectivesOfThreads::name_of);

TEST(CollectivesOfSleepers, WakeTheOneThatSleepsAlready) {
  for (const TestPlan& plan : plans_with_sleepers()) {
    expect_first_sleeper_woken(plan, CollectiveSubject{});
    if (can_fence_threads())
      expect_first_sleeper_woken(plan, CollectiveSubject{Fencing::kBySleepers});
  }
}

// Each size from 1 byte to the most.
void expect_every_size(const TestPlan& plan, Fencing fencing) {
  constexpr std::size_t kMost = Collectives<ThreadMem>::kMostBytes;
  ThreadTrial<CollectiveSubject> trial(plan, kWaitings[3].policy, CollectiveSubject{fencing});
  const std::uint32_t num_participants = trial.plan().num_participants;
  trial.run([&](ThreadMem& mem, std::uint32_t me) {
    const auto collectives = trial.collectives();
    for (std::size_t bytes = 1; bytes <= kMost; bytes += bytes < 130 ? 1 : 263) {
      const char* what = "";
      EXPECT_TRUE(
          make_call(collectives, mem, me, {bytes, num_participants, bytes, 1, false}, what));
      EXPECT_STREQ(what, "") << bytes << " bytes";
    }
    for (const auto kind : {CollectiveCall::Kind::kAllgather, CollectiveCall::Kind::kAlltoall,
                            CollectiveCall::Kind::kReduceScatter}) {
      const std::size_t most = kMost / num_participants;
      for (std::size_t bytes = 1; bytes <= most; bytes += bytes < 130 && bytes + 9 < most ? 1 : 9) {
        const char* what = "";
        EXPECT_TRUE(make_call(collectives, mem, me,
                              {bytes, num_participants, bytes, 1, bytes % 2 == 0, kind}, what));
        EXPECT_STREQ(what, "") << bytes << " bytes";
      }
    }
    const char* what = "";
    EXPECT_TRUE(make_call(collectives, mem, me, {0, num_participants, 0, 8, false}, what));
    EXPECT_TRUE(make_call(collectives, mem, me, {1, num_participants, 1, kMost, true}, what));
    EXPECT_TRUE(make_call(collectives, mem, me, {2, num_participants, kMost, 1, true}, what));
    EXPECT_STREQ(what, "");
  });
}

TEST(CollectivesOfAnySize, AreRight) {
  for (const TestPlan& plan : shapes()) {
    expect_every_size(plan, Fencing::kByWriters);
    if (can_fence_threads()) expect_every_size(plan, Fencing::kBySleepers);
  }
}

}  // namespace
}  // namespace hierbar::test

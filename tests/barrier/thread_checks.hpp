// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdint>
#include <vector>

#include "thread_trial.hpp"

// What every barrier must do with threads: the engine and the baselines.
namespace hierbar::test {

struct Waiting {
  const char* name;
  WaitPolicy policy;
};

inline const std::vector<Waiting> kWaitings = {
    {"spinning", {.spin_looks = 200, .yields = 16, .sleeps = false}},
    {"yielding", {.spin_looks = 0, .yields = 0, .sleeps = false}},
    {"sleeping", {.spin_looks = 0, .yields = 0, .sleeps = true, .sleep_limit_ns = kOneHourNs}},
    {"mixed", {.spin_looks = 20, .yields = 2, .sleeps = true, .sleep_limit_ns = kOneHourNs}},
};

// The seeds cover every kind of first epoch: zero, before the wrap-around, before the sign
// boundary, any.
template <class Subject>
void expect_oracle_kept(const TestPlan& plan, const WaitPolicy& policy, const Subject& subject, std::uint64_t num_seeds) {
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    ASSERT_EQ(play_oracle(plan, policy, subject, seed, /*num_rounds=*/50), "") << "seed " << seed;
  }
}

template <class Subject>
void expect_late_participant_awaited(const TestPlan& plan, const WaitPolicy& policy, const Subject& subject) {
  const std::uint32_t count = plan.view().num_participants;
  for (const std::uint32_t late : {0U, count / 2, count - 1}) {
    ASSERT_EQ(play_oracle(plan, policy, subject, late, /*num_rounds=*/5, late), "") << "late: " << late;
  }
}

// The last participant never arrives.
template <class Subject>
void expect_every_wait_ends_when_aborted(const TestPlan& plan, WaitPolicy policy, const Subject& subject) {
  const std::uint32_t count = plan.view().num_participants;
  const std::uint32_t missing = count - 1;
  policy.sleep_limit_ns = 1'000'000;  // so that sleepers read `aborted` from time to time
  ThreadTrial<Subject> trial(plan, policy, subject);
  std::vector<WaitResult> results(count, WaitResult::kReleased);
  trial.run([&](ThreadMem& mem, std::uint32_t me) {
    if (me != missing) {
      results[me] = trial.cross(mem, me);
      return;
    }
    for (std::uint32_t p = 0; p < missing && policy.sleeps; ++p) {
      while (!trial.is_parked(p)) sched_yield();
    }
    trial.aborted() = 1;
  });
  for (std::uint32_t p = 0; p < missing; ++p) EXPECT_EQ(results[p], WaitResult::kAborted) << "participant " << p;
}

// In every round another participant comes first. It sleeps or is about to before any other
// arrives.
template <class Subject>
void expect_first_sleeper_woken(const TestPlan& plan, const Subject& subject) {
  constexpr std::uint32_t kNumRounds = 60;
  ThreadTrial<Subject> trial(plan, {.spin_looks = 0, .yields = 0, .sleeps = true, .sleep_limit_ns = kOneHourNs}, subject);
  const std::uint32_t count = trial.plan().num_participants;
  trial.run([&](ThreadMem& mem, std::uint32_t me) {
    for (std::uint32_t round = 0; round < kNumRounds; ++round) {
      const std::uint32_t first = round % count;
      while (me != first && !trial.is_parked(first)) sched_yield();
      EXPECT_EQ(trial.cross(mem, me), WaitResult::kReleased);
      EXPECT_EQ(trial.cross(mem, me), WaitResult::kReleased);
    }
  });
}

}  // namespace hierbar::test

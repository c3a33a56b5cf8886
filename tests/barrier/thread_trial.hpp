// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "barrier/barrier.hpp"
#include "barrier/thread_host.hpp"
#include "base/membarrier.hpp"
#include "tests/barrier/engine_subject.hpp"
#include "tests/barrier/oracle.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::test {

using ThreadMem = RealMem<ThreadHost>;

// So long that a lost wake-up becomes a ctest timeout. Where a long has 32 bits: two seconds.
inline constexpr long kOneHourNs =
    static_cast<long>(std::min<long long>(3'600'000'000'000, std::numeric_limits<long>::max()));

// One barrier on real memory, and the threads that use it.
template <class Subject = EngineSubject>
class ThreadTrial {
 public:
  explicit ThreadTrial(const TestPlan& plan, const WaitPolicy& policy, Subject subject = Subject{})
      : owner_(plan),
        plan_(owner_.view()),
        policy_(policy),
        subject_(subject),
        storage_(subject.template size_bytes<ThreadMem>(plan_) / sizeof(StorageLine) + 1),
        spots_(plan_.num_participants) {}

  // Runs body(mem, me) on one thread for each participant and waits for all of them.
  template <class Body>
  void run(Body&& body) {
    std::vector<std::thread> threads;
    for (std::uint32_t me = 0; me < plan_.num_participants; ++me) {
      threads.emplace_back([this, me, &body] {
        ThreadHost host(spots_.data(), me, policy_, aborted_);
        ThreadMem mem(host);
        body(mem, me);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void start_at(Epoch start) {
    subject_.template start<ThreadMem>(
        plan_, storage_.data(), start,
        [](ThreadMem::Word& word, std::uint64_t value) { word = value; });
  }

  WaitResult cross(ThreadMem& mem, std::uint32_t me) {
    return subject_.cross(plan_, storage_.data(), mem, me);
  }
  // For the engine only, which has more functions.
  Barrier<ThreadMem> barrier() {
    return Barrier<ThreadMem>(plan_, storage_.data(), subject_.fencing);
  }
  // For collectives only.
  auto collectives() { return subject_.template collectives<ThreadMem>(plan_, storage_.data()); }
  template <class World>
  auto make_cross(const Script& script, World& world) {
    return subject_.template make_cross<ThreadMem>(plan_, storage_.data(), script, world);
  }
  const hierbar_plan& plan() const { return plan_; }
  AbortFlag& aborted() { return aborted_; }
  // Whether the participant sleeps or is about to.
  bool is_parked(std::uint32_t participant) const { return spots_[participant].parked.load() != 0; }

 private:
  struct alignas(128) StorageLine {
    std::byte bytes[128];
  };

  const TestPlan owner_;
  const hierbar_plan plan_;
  const WaitPolicy policy_;
  const Subject subject_;
  std::vector<StorageLine> storage_;
  std::vector<ParkingSpot> spots_;
  AbortFlag aborted_{0};
};

inline constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

// The oracle's plain data. It is really plain, so ThreadSanitizer checks every access.
class ThreadWorld {
 public:
  // Participant `late` yields before each of its rounds, so that the others come first.
  ThreadWorld(std::uint32_t num_cells, AbortFlag& aborted, std::uint32_t late)
      : cells_(num_cells), aborted_(aborted), late_(late) {}

  void write(std::uint32_t me, std::uint32_t cell, std::uint64_t value) {
    if (me == late_ && cell == Script::value_cell(me)) {
      for (int i = 0; i < 50; ++i) sched_yield();
    }
    cells_[cell] = value;
  }
  std::uint64_t read(std::uint32_t, std::uint32_t cell) const { return cells_[cell]; }
  void fail(std::uint32_t me, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = "participant " + std::to_string(me) + ": " + text;
    aborted_ = 1;
  }
  const std::string& failure() const { return failure_; }

 private:
  std::vector<std::uint64_t> cells_;
  AbortFlag& aborted_;
  const std::uint32_t late_;
  std::mutex mutex_;
  std::string failure_;
};

// Plays the oracle; returns what went wrong, empty when nothing did.
template <class Subject>
std::string play_oracle(const TestPlan& plan, const WaitPolicy& policy, const Subject& subject,
                        std::uint64_t seed, std::uint32_t num_rounds,
                        std::uint32_t late = kNobody) {
  ThreadTrial<Subject> trial(plan, policy, subject);
  const Script script(trial.plan(), seed, num_rounds);
  trial.start_at(script.start());
  ThreadWorld world(Script::num_cells(trial.plan().num_participants), trial.aborted(), late);
  const auto cross = trial.make_cross(script, world);
  const Oracle<ThreadMem, ThreadWorld, decltype(cross)> oracle(script, world, cross);
  trial.run([&](ThreadMem& mem, std::uint32_t me) { oracle.run(mem, me); });
  return world.failure();
}

}  // namespace hierbar::test

// What every barrier must do with threads: the engine and the baselines.

namespace hierbar::test {

struct Waiting {
  const char* name;
  WaitPolicy policy;
};

inline const std::vector<Waiting> kWaitings = {
    {"spinning", {.spin_polls = 200, .yields = 16, .sleeps = false}},
    {"yielding", {.spin_polls = 0, .yields = 0, .sleeps = false}},
    {"sleeping", {.spin_polls = 0, .yields = 0, .sleeps = true, .longest_sleep_ns = kOneHourNs}},
    {"mixed", {.spin_polls = 20, .yields = 2, .sleeps = true, .longest_sleep_ns = kOneHourNs}},
};

// The seeds cover every kind of first epoch: zero, before the wrap-around, before the sign
// boundary, any.
template <class Subject>
void expect_oracle_kept(const TestPlan& plan, const WaitPolicy& policy, const Subject& subject,
                        std::uint64_t num_seeds) {
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    ASSERT_EQ(play_oracle(plan, policy, subject, seed, /*num_rounds=*/50), "") << "seed " << seed;
  }
}

template <class Subject>
void expect_late_participant_awaited(const TestPlan& plan, const WaitPolicy& policy,
                                     const Subject& subject) {
  const std::uint32_t count = plan.view().num_participants;
  for (const std::uint32_t late : {0U, count / 2, count - 1}) {
    ASSERT_EQ(play_oracle(plan, policy, subject, late, /*num_rounds=*/5, late), "")
        << "late: " << late;
  }
}

// The last participant never arrives.
template <class Subject>
void expect_every_wait_ends_when_aborted(const TestPlan& plan, WaitPolicy policy,
                                         const Subject& subject) {
  const std::uint32_t count = plan.view().num_participants;
  const std::uint32_t missing = count - 1;
  policy.longest_sleep_ns = 1'000'000;  // so that sleepers read `aborted` from time to time
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
  for (std::uint32_t p = 0; p < missing; ++p)
    EXPECT_EQ(results[p], WaitResult::kAborted) << "participant " << p;
}

// In every round another participant comes first. It sleeps or is about to before any other
// arrives.
template <class Subject>
void expect_first_sleeper_woken(const TestPlan& plan, const Subject& subject) {
  constexpr std::uint32_t kNumRounds = 60;
  ThreadTrial<Subject> trial(
      plan, {.spin_polls = 0, .yields = 0, .sleeps = true, .longest_sleep_ns = kOneHourNs},
      subject);
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

// A test for each shape, each way of waiting and each way of fencing.
template <const std::vector<TestPlan>& (*kShapes)()>
class ThreadsTest : public testing::TestWithParam<std::tuple<std::size_t, std::size_t, Fencing>> {
 public:
  static auto cases() {
    return testing::Combine(testing::Range<std::size_t>(0, kShapes().size()),
                            testing::Range<std::size_t>(0, kWaitings.size()),
                            testing::Values(Fencing::kByWriters, Fencing::kBySleepers));
  }
  static std::string name_of(const testing::TestParamInfo<ParamType>& instance) {
    const auto& [shape, waiting, fences] = instance.param;
    return kShapes()[shape].name() + "_" + kWaitings[waiting].name + suffix_of(fences);
  }

 protected:
  void SetUp() override {
    if (fencing() == Fencing::kByWriters) return;
    if (plan().view().num_crews != 0) GTEST_SKIP() << "with crews the writers always fence";
    if (!can_fence_threads()) GTEST_SKIP() << "the system has no membarrier(2), or refuses it";
  }
  static const TestPlan& plan() { return kShapes()[std::get<0>(GetParam())]; }
  static const WaitPolicy& policy() { return kWaitings[std::get<1>(GetParam())].policy; }
  static Fencing fencing() { return std::get<2>(GetParam()); }
};

// For expect_first_sleeper_woken().
inline std::vector<TestPlan> plans_with_sleepers() {
  return {make_flat(2), make_flat(4), make_crews(5, 2),
          make_forest("flags", {{3, 2}, 2, HIERBAR_RELEASE_FLAGS}),
          make_forest("lines", {{3, 2}, 2, HIERBAR_RELEASE_LINES})};
}

}  // namespace hierbar::test

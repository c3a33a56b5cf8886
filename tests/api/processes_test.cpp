// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One barrier in the memory of several processes.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tests/api/api_support.hpp"

namespace hierbar::test {
namespace {

// What the test's processes share besides the barrier. `values` are plain: only the barrier keeps
// them apart.
struct Common {
  std::uint64_t values[8];
  std::uintptr_t addresses[8];
  std::atomic<std::uint32_t> num_attached;
  std::atomic<std::uint32_t> num_calls;
};

class BarrierOfProcesses : public testing::Test {
 protected:
  BarrierOfProcesses() : memory_(sizeof(Common)) {}

  Common& common() const { return *static_cast<Common*>(memory_.get()); }

  // A child that maps the barrier once more and takes part in it as `me`.
  template <class Body>
  Child& start(const SharedBarrier& shared, std::uint32_t me, const Body& body,
               const hierbar_waiting* waiting = nullptr) {
    return children_.emplace_back([&shared, this, me, &body, waiting] {
      void* memory = shared.memory().map();
      common().addresses[me] = reinterpret_cast<std::uintptr_t>(memory);
      munmap(shared.memory().get(), shared.memory().size());
      const BarrierHandle barrier = shared.attach_at(memory, waiting);
      if (barrier == nullptr) return false;
      ++common().num_attached;
      return body(barrier.get(), me);
    });
  }

  // Participants 0 and 1 run `until_aborted`. Participant 2 runs `count_calls`, and is killed when
  // it has counted so many calls.
  template <class UntilAborted, class CountCalls>
  void kill_behind_calls(const SharedBarrier& shared, std::uint32_t num_calls,
                         const UntilAborted& until_aborted, const CountCalls& count_calls) {
    children_.clear();
    common().num_calls = 0;
    start(shared, 0, until_aborted);
    start(shared, 1, until_aborted);
    const Child& victim = start(shared, 2, count_calls);
    while (common().num_calls < num_calls) sched_yield();
    victim.kill_and_join();
    hierbar_barrier_abort(shared.attach().get());
    EXPECT_TRUE(children_[0].join());
    EXPECT_TRUE(children_[1].join());
  }

  // Children that return true when each of many episodes showed them everybody's values.
  void run_oracle(std::uint32_t count, const hierbar_waiting& waiting,
                  const char* algorithm = "hier") {
    hierbar_attributes attributes = attributes_of(count, waiting);
    attributes.algorithm = algorithm;
    const SharedBarrier shared(attributes);
    ASSERT_EQ(shared.status(), HIERBAR_OK);
    const auto body = [&](hierbar_barrier* barrier, std::uint32_t me) {
      for (std::uint64_t episode = 1; episode <= 500; ++episode) {
        common().values[me] = episode * 100 + me;
        if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) return false;
        for (std::uint32_t p = 0; p < count; ++p) {
          if (common().values[p] != episode * 100 + p) return false;
        }
        if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) return false;
      }
      return true;
    };
    for (std::uint32_t me = 0; me < count; ++me) start(shared, me, body);
    for (const Child& child : children_) EXPECT_TRUE(child.join());
    for (std::uint32_t me = 0; me < count; ++me) {
      EXPECT_NE(common().addresses[me], reinterpret_cast<std::uintptr_t>(shared.memory().get()));
    }
  }

  void await_attached(std::uint32_t count) const {
    while (common().num_attached < count) sched_yield();
  }

  SharedMemory memory_;
  std::deque<Child> children_;
};

// An allreduce of all processes, then a bcast of its result. `is_right` becomes false if a number
// is wrong.
hierbar_status reduce_and_bcast(hierbar_barrier* barrier, std::uint32_t me, std::uint64_t episode,
                                bool& is_right) {
  const std::uint64_t num_participants = hierbar_barrier_num_participants(barrier);
  const std::size_t count = episode % 2 == 0 ? 3 : 40;
  std::uint64_t numbers[40] = {};
  std::fill_n(numbers, count, episode + me);
  const auto check = [&] {
    const std::uint64_t sum =
        num_participants * episode + num_participants * (num_participants - 1) / 2;
    if (std::count(numbers, numbers + count, sum) != static_cast<std::ptrdiff_t>(count))
      is_right = false;
  };
  hierbar_status status =
      hierbar_allreduce(barrier, me, numbers, numbers, count, HIERBAR_UINT64, HIERBAR_SUM);
  if (status != HIERBAR_OK) return status;
  check();
  if (me != 0) std::fill_n(numbers, count, 0);
  status = hierbar_bcast(barrier, me, 0, numbers, count * sizeof numbers[0]);
  if (status == HIERBAR_OK) check();
  return status;
}

constexpr auto kReduceUntilAborted = [](hierbar_barrier* barrier, std::uint32_t me) {
  bool is_right = true;
  hierbar_status status = HIERBAR_OK;
  for (std::uint64_t episode = 1; status == HIERBAR_OK; ++episode)
    status = reduce_and_bcast(barrier, me, episode, is_right);
  return is_right && status == HIERBAR_ABORTED;
};
constexpr auto kWaitUntilAborted = [](hierbar_barrier* barrier, std::uint32_t me) {
  for (;;) {
    const hierbar_status status = hierbar_barrier_wait(barrier, me);
    if (status != HIERBAR_OK) return status == HIERBAR_ABORTED;
  }
};
constexpr auto kNeverArrive = [](hierbar_barrier*, std::uint32_t) {
  for (;;) pause();
  return false;
};

class BarrierOfWaitingProcesses : public BarrierOfProcesses,
                                  public testing::WithParamInterface<Waiting> {};

TEST_P(BarrierOfWaitingProcesses, TwoSeeWhatTheOtherWrote) { run_oracle(2, GetParam().waiting); }
TEST_P(BarrierOfWaitingProcesses, FourSeeWhatAllWrote) { run_oracle(4, GetParam().waiting); }
TEST_P(BarrierOfWaitingProcesses, SevenSeeWhatAllWrote) { run_oracle(7, GetParam().waiting); }

// Whoever never sleeps must wake those who do.
TEST_P(BarrierOfWaitingProcesses, WhoWaitsDifferentlyGetsAlong) {
  const SharedBarrier shared(attributes_of(2, GetParam().waiting));
  const auto body = [](hierbar_barrier* barrier, std::uint32_t me) {
    for (int episode = 0; episode < 500; ++episode) {
      if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) return false;
    }
    return true;
  };
  start(shared, 0, body, &kSleeping);
  start(shared, 1, body, &kWaitings[1].waiting);
  for (const Child& child : children_) EXPECT_TRUE(child.join());
}

INSTANTIATE_TEST_SUITE_P(Waitings, BarrierOfWaitingProcesses, testing::ValuesIn(kWaitings),
                         [](const auto& instance) { return instance.param.name; });

TEST_F(BarrierOfProcesses, EveryAlgorithmCrosses) {
  for (const NamedAlgorithm& algorithm : kAlgorithms) {
    if (algorithm.algorithm == Algorithm::kTopo) continue;  // needs bindings
    SCOPED_TRACE(algorithm.name);
    children_.clear();
    run_oracle(5, kSleeping, std::string(algorithm.name).c_str());
  }
}

// Two views in one process: the same memory at two addresses.
TEST_F(BarrierOfProcesses, TheAddressOfTheMemoryDoesNotMatter) {
  const SharedBarrier shared(attributes_of(2));
  void* other = shared.memory().map();
  ASSERT_NE(other, shared.memory().get());
  const BarrierHandle here = shared.attach();
  const BarrierHandle there = shared.attach_at(other);
  ASSERT_NE(there, nullptr);
  EXPECT_EQ(hierbar_barrier_gather(there.get(), 1, 5, nullptr), HIERBAR_OK);
  std::uint32_t bits = 0;
  EXPECT_EQ(hierbar_barrier_gather(here.get(), 0, 2, &bits), HIERBAR_OK);
  EXPECT_EQ(bits, 7U);
  EXPECT_EQ(hierbar_barrier_release(here.get(), 0, 9, nullptr), HIERBAR_OK);
  EXPECT_EQ(hierbar_barrier_release(there.get(), 1, 0, &bits), HIERBAR_OK);
  EXPECT_EQ(bits, 9U);
  munmap(other, shared.memory().size());
}

TEST_F(BarrierOfProcesses, ALatePartnerWakesTheSleeper) {
  const SharedBarrier shared(attributes_of(2, kSleeping));
  const auto body = [&](hierbar_barrier* barrier, std::uint32_t me) {
    for (std::uint32_t episode = 0; episode < 50; ++episode) {
      if (me == episode % 2) shared.await_parked(1 - me);
      if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) return false;
      if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) return false;
    }
    return true;
  };
  for (std::uint32_t me : {0U, 1U}) {
    children_.emplace_back([&, me] {  // at the inherited address, where await_parked() looks
      const BarrierHandle barrier = shared.attach();
      return body(barrier.get(), me);
    });
  }
  for (const Child& child : children_) EXPECT_TRUE(child.join());
}

TEST_F(BarrierOfProcesses, AnAbortReachesOtherProcesses) {
  for (const Waiting& waiting : kWaitings) {
    const SharedBarrier shared(attributes_of(4, waiting.waiting));
    children_.clear();
    for (const std::uint32_t me : {0U, 1U, 2U}) start(shared, me, kWaitUntilAborted);
    EXPECT_EQ(hierbar_barrier_abort(shared.attach().get()), HIERBAR_OK);
    for (const Child& child : children_) EXPECT_TRUE(child.join()) << waiting.name;
    EXPECT_EQ(hierbar_barrier_wait(shared.attach().get(), 3), HIERBAR_ABORTED)
        << "one that comes later";
  }
}

TEST_F(BarrierOfProcesses, AnAbortEndsTheSleepOfAll) {
  const SharedBarrier shared(attributes_of(4, kSleeping));
  for (const std::uint32_t me : {0U, 1U, 2U}) start(shared, me, kWaitUntilAborted);
  for (const std::uint32_t me : {0U, 1U, 2U}) shared.await_parked(me);
  hierbar_barrier_abort(shared.attach().get());
  for (const Child& child : children_) EXPECT_TRUE(child.join());
}

// Stopped, so that it is not the sleeper itself that leaves its parking spot.
TEST_F(BarrierOfProcesses, AnAbortWakesTheSleeper) {
  const SharedBarrier shared(attributes_of(2, kSleeping));
  const Child& sleeper = start(shared, 0, kWaitUntilAborted);
  shared.await_parked(0);
  kill(sleeper.pid(), SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(sleeper.pid(), &status, WUNTRACED), sleeper.pid());
  hierbar_barrier_abort(shared.attach().get());
  EXPECT_FALSE(shared.is_parked(0));
  kill(sleeper.pid(), SIGCONT);
  EXPECT_TRUE(sleeper.join());
}

// As if whoever aborts were killed before it wakes anybody.
TEST_F(BarrierOfProcesses, ASleeperNoticesTheAbortByItself) {
  const SharedBarrier shared(attributes_of(2, {0, 0, 1'000'000, nullptr, nullptr}));
  start(shared, 0, kWaitUntilAborted);
  shared.await_parked(0);
  shared.header().aborted = 1;
  EXPECT_TRUE(children_[0].join());
}

TEST_F(BarrierOfProcesses, OneKilledBeforeItCameLeavesTheOthersToAnAbort) {
  const SharedBarrier shared(attributes_of(3, kSleeping));
  start(shared, 0, kWaitUntilAborted);
  start(shared, 1, kWaitUntilAborted);
  const Child& victim = start(shared, 2, kNeverArrive);
  shared.await_parked(0);
  shared.await_parked(1);
  victim.kill_and_join();
  hierbar_barrier_abort(shared.attach().get());
  EXPECT_TRUE(children_[0].join());
  EXPECT_TRUE(children_[1].join());
}

TEST_F(BarrierOfProcesses, OneKilledInItsSleepDoesNoHarm) {
  const SharedBarrier shared(attributes_of(2, kSleeping));
  const Child& victim = start(shared, 1, kWaitUntilAborted);
  shared.await_parked(1);
  victim.kill_and_join();
  const BarrierHandle barrier = shared.attach();
  EXPECT_EQ(hierbar_barrier_wait(barrier.get(), 0), HIERBAR_OK) << "it had arrived";
  hierbar_barrier_abort(barrier.get());
  EXPECT_EQ(hierbar_barrier_wait(barrier.get(), 0), HIERBAR_ABORTED);
}

// Wherever in an episode the kill meets it.
TEST_F(BarrierOfProcesses, OneKilledAnywhereLeavesTheOthersToAnAbort) {
  for (std::uint32_t repetition = 0; repetition < 40; ++repetition) {
    const SharedBarrier shared(
        attributes_of(3, kWaitings[repetition % std::size(kWaitings)].waiting));
    const auto count_calls = [&](hierbar_barrier* barrier, std::uint32_t me) {
      while (hierbar_barrier_wait(barrier, me) == HIERBAR_OK) ++common().num_calls;
      return true;
    };
    kill_behind_calls(shared, repetition, kWaitUntilAborted, count_calls);
  }
}

TEST_P(BarrierOfWaitingProcesses, CollectivesGiveAllTheSame) {
  const SharedBarrier shared(with_collectives(4, GetParam().waiting));
  ASSERT_EQ(shared.status(), HIERBAR_OK);
  for (const std::uint32_t me : {0U, 1U, 2U}) start(shared, me, kReduceUntilAborted);
  const BarrierHandle barrier = shared.attach();
  bool is_right = true;
  for (std::uint64_t episode = 1; episode <= 300; ++episode)
    ASSERT_EQ(reduce_and_bcast(barrier.get(), 3, episode, is_right), HIERBAR_OK);
  EXPECT_TRUE(is_right);
  hierbar_barrier_abort(barrier.get());
  for (const Child& child : children_) EXPECT_TRUE(child.join());
}

// Wherever in an allreduce or a bcast the kill meets it.
TEST_F(BarrierOfProcesses, OneKilledLeavesCollectivesOfTheOthersToAnAbort) {
  for (std::uint32_t repetition = 0; repetition < 20; ++repetition) {
    const SharedBarrier shared(
        with_collectives(3, kWaitings[repetition % std::size(kWaitings)].waiting));
    const auto count_calls = [&](hierbar_barrier* barrier, std::uint32_t me) {
      bool is_right = true;
      for (std::uint64_t episode = 1;
           reduce_and_bcast(barrier, me, episode, is_right) == HIERBAR_OK; ++episode)
        ++common().num_calls;
      return is_right;
    };
    kill_behind_calls(shared, repetition, kReduceUntilAborted, count_calls);
  }
}

int peer_is_dead(void* pid) { return kill(*static_cast<pid_t*>(pid), 0) != 0 ? 1 : 0; }

TEST_F(BarrierOfProcesses, AProgressMayNoticeThatAPeerIsDead) {
  const SharedBarrier shared(attributes_of(2, kSleeping));
  pid_t victim_pid = start(shared, 1, kNeverArrive).pid();
  const hierbar_waiting watching = {HIERBAR_AUTO, HIERBAR_AUTO, 100'000, peer_is_dead, &victim_pid};
  start(shared, 0, kWaitUntilAborted, &watching);
  await_attached(2);
  children_[0].kill_and_join();
  EXPECT_TRUE(children_[1].join());
}

}  // namespace
}  // namespace hierbar::test

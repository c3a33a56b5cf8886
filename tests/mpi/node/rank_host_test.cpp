// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/rank_host.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "barrier/flat_plan.hpp"
#include "mpi/node/barrier_block.hpp"
#include "mpi/node/fences.hpp"
#include "mpi/node/segment.hpp"
#include "tests/barrier/engine_subject.hpp"
#include "tests/barrier/oracle.hpp"
#include "tests/barrier/thread_trial.hpp"

namespace {
thread_local int num_yields = 0;
}  // namespace

// In place of the C library's.
extern "C" int sched_yield() noexcept {
  ++num_yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace hierbar::mpi {
namespace {

using test::TestPlan;

std::atomic<long> pokes{0};
bool count_poke(void*) noexcept {
  pokes.fetch_add(1, std::memory_order_relaxed);
  return false;
}
void ignore_overdue(void*, long) noexcept {}

// A wake-up that is lost becomes a ctest timeout. Where a long has 32 bits: two seconds.
constexpr long kOneHourNs =
    static_cast<long>(std::min<long long>(3'600'000'000'000, std::numeric_limits<long>::max()));

Waiting sleeps_at_once() {
  Waiting waiting = Waiting::outnumbered();
  waiting.spin_polls_alone = 0;
  waiting.yields = 0;
  waiting.first_sleep_ns = waiting.longest_sleep_ns = kOneHourNs;
  waiting.yields_together = 0;
  return waiting;
}

struct Policy {
  const char* name;
  Waiting waiting;
};

// The ranks of one node, as threads: a block in a real segment, through mappings of their own.
class Node {
 public:
  explicit Node(const TestPlan& plan) : owner_(plan), plan_(owner_.view()) {
    segments_.push_back(*NodeSegment::create(plan_.num_participants, 1 << 20));
    first_unit_ = *segments_[0]->units().claim(BarrierBlock::num_units(plan_),
                                               BarrierBlock::alignment(plan_, 4096));
    for (std::uint32_t me = 1; me < plan_.num_participants; ++me) {
#if defined(HIERBAR_THREAD_SANITIZER)
      segments_.push_back(
          segments_[0]);  // it does not know that two addresses can be the same memory
#else
      segments_.push_back(
          *NodeSegment::join(segments_[0]->name(), segments_[0]->id(), plan_.num_participants));
#endif
    }
    for (std::uint32_t me = 0; me < plan_.num_participants; ++me) {
      blocks_.push_back(std::make_unique<BarrierBlock>(segments_[me], first_unit_, plan_));
      EXPECT_TRUE(blocks_[me]->clear_slot(me));
    }
    blocks_[0]->publish(segments_[0]->next_generation());
  }

  template <class Body>
  void run(const Waiting& waiting, const WaitDuties& duties, Body&& body) {
    std::vector<std::thread> threads;
    for (std::uint32_t me = 0; me < plan_.num_participants; ++me) {
      threads.emplace_back([&, me] {
        RankHost host(*blocks_[me], me, waiting, duties);
        RankMem mem(host);
        body(mem, me);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  const hierbar_plan& plan() const { return plan_; }
  const BarrierBlock& block(std::uint32_t me) const { return *blocks_[me]; }
  NodeSegment& segment() { return *segments_[0]; }

 private:
  const TestPlan owner_;
  const hierbar_plan plan_;
  std::uint32_t first_unit_ = 0;
  std::vector<std::shared_ptr<NodeSegment>> segments_;
  std::vector<std::unique_ptr<BarrierBlock>> blocks_;
};

class RankHostOracle : public ::testing::TestWithParam<std::tuple<TestPlan, Policy, Fencing>> {};

TEST_P(RankHostOracle, NobodyLeavesBeforeAllHaveArrived) {
  const auto& [plan, policy, fencing] = GetParam();
  if (fencing == Fencing::kBySleepers && !can_fence_ranks())
    GTEST_SKIP() << "the system has no global membarrier(2), or refuses it";
  Node node(plan);
  const test::Script script(node.plan(), 11, 300);
  AbortFlag aborted{0};
  test::ThreadWorld world(test::Script::num_cells(node.plan().num_participants), aborted,
                          test::kNobody);
  node.run(policy.waiting, {count_poke, ignore_overdue, nullptr},
           [&](RankMem& mem, std::uint32_t me) {
             using Cross = test::EngineCross<RankMem, test::ThreadWorld>;
             const Cross cross(node.plan(), node.block(me).memory(), script, world, fencing);
             test::Oracle<RankMem, test::ThreadWorld, Cross>(script, world, cross).run(mem, me);
           });
  EXPECT_EQ(world.failure(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RankHostOracle,
    ::testing::Combine(
        ::testing::Values(test::make_flat(2), test::make_flat(4),
                          test::make_forest("two_domains", {{2, 3}}),
                          test::make_forest("lines", {{4, 3}, 3, HIERBAR_RELEASE_LINES}),
                          test::make_crews(7, 1), test::make_crews(7, 2)),
        ::testing::Values(Policy{"spins", Waiting{}}, Policy{"yields", Waiting::outnumbered()},
                          Policy{"sleeps", sleeps_at_once()}),
        ::testing::Values(Fencing::kByWriters, Fencing::kBySleepers)),
    [](const auto& trial) {
      return std::get<0>(trial.param).name() + "_" + std::get<1>(trial.param).name +
             test::suffix_of(std::get<2>(trial.param));
    });

// From the 20th on each has something to do.
bool poke_that_works(void*) noexcept {
  if (pokes.fetch_add(1, std::memory_order_relaxed) < 20) return false;
  const std::int64_t end_ns = monotonic_ns() + 100'000;
  while (monotonic_ns() < end_ns) continue;
  return false;
}

// Of a rank with a window.
bool poke_beside_window(void*) noexcept {
  pokes.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// The late one comes only after the other has made progress for it, as in a rendezvous. Returns how
// often the other yielded.
int wait_for_pokes(const Waiting& waiting, bool gets_oversubscribed = false,
                   bool (*poke)(void*) noexcept = count_poke) {
  int yields_of_waiter = -1;
  Node node(TestPlan("two", {0, 1}, HIERBAR_RELEASE_FLAGS));
  if (gets_oversubscribed) node.block(1).mark_oversubscribed();
  pokes = 0;
  node.run(waiting, {poke, ignore_overdue, nullptr}, [&](RankMem& mem, std::uint32_t me) {
    while (me == 1 && pokes.load() < 100) sched_yield();
    const int yields_before = num_yields;
    RankBarrier(node.plan(), node.block(me).memory()).cross(mem, me, 0);
    if (me == 0) yields_of_waiter = num_yields - yields_before;
  });
  EXPECT_GE(pokes.load(), 100);
  return yields_of_waiter;
}

TEST(RankHost, AWaitingRankMakesProgress) {
  wait_for_pokes(Waiting{});
  wait_for_pokes(Waiting::outnumbered());
}

TEST(RankHost, ASleepingRankMakesProgress) {
  Waiting waiting;
  waiting.yields = 0;
  waiting.first_sleep_ns = waiting.longest_sleep_ns = 1000;
  wait_for_pokes(waiting);
}

// Each sleep is twice as long as the one before: 20 in a row take a second, 30 a quarter hour.
TEST(RankHost, ARankWhosePeersUseItsLibraryStaysAwake) {
  Waiting waiting;
  waiting.yields = 4;
  waiting.first_sleep_ns = 1000;
  waiting.longest_sleep_ns = kOneHourNs;
  wait_for_pokes(waiting, false, poke_that_works);
}

// The first sleep would last an hour. A yield beside a process that computes takes milliseconds.
TEST(RankHost, ARankWhoseMemoryPeersMayAccessNeitherSleepsNorYields) {
  Waiting waiting;
  waiting.yields = 4;
  waiting.first_sleep_ns = waiting.longest_sleep_ns = kOneHourNs;
  EXPECT_EQ(wait_for_pokes(waiting, false, poke_beside_window), 0);
}

// Each sleep would be twice as long as the one before: 100 in a row would take longer than the
// world stands. It has no cpu of its own, and the others may need this one.
TEST(RankHost, ARankWithoutACpuOfItsOwnSleepsShortlyBesideItsWindow) {
  Waiting waiting = sleeps_at_once();
  waiting.first_sleep_ns = 1000;
  waiting.longest_sleep_ns = kOneHourNs;
  wait_for_pokes(waiting, false, poke_beside_window);
}

// As it is, the communicator's first wait would be a long sleep.
TEST(RankHost, RanksThatGetOversubscribedWaitAsIfTheyHadAlwaysBeen) {
  Waiting waiting;
  waiting.yields = 0;
  waiting.first_sleep_ns = waiting.longest_sleep_ns = kOneHourNs;
  wait_for_pokes(waiting, /*gets_oversubscribed=*/true);
}

TEST(RankHost, AnOverdueBarrierIsToldToWhoeverWaits) {
  struct Told {
    const BarrierBlock* block;
    std::atomic<int> times{0};
    std::atomic<bool> is_right{true};
  } told;
  Node node(TestPlan("three", {0, 1, 2}, HIERBAR_RELEASE_FLAGS));
  told.block = &node.block(0);
  Waiting waiting;
  waiting.watch_ns = 1'000'000;
  const WaitDuties duties{count_poke,
                          [](void* context, long waited_ns) noexcept {
                            auto& seen = *static_cast<Told*>(context);
                            const bool is_right =
                                seen.block->has_entered(0, 0) && !seen.block->has_entered(2, 0);
                            // Participant 2 comes after the third time.
                            if ((seen.times < 3 && !is_right) || waited_ns < 1'000'000)
                              seen.is_right = false;
                            ++seen.times;
                          },
                          &told};
  node.run(waiting, duties, [&](RankMem& mem, std::uint32_t me) {
    while (me == 2 && told.times.load() < 3) sched_yield();
    RankBarrier(node.plan(), node.block(me).memory()).gather(mem, me, 0, [](std::uint32_t) {});
  });
  EXPECT_GE(told.times, 3);
  EXPECT_TRUE(told.is_right);
}

TEST(BarrierBlock, TheLastToDetachGivesItBackAndItCanBeUsedAgain) {
  Node node(TestPlan("three", {0, 1, 2}, HIERBAR_RELEASE_FLAGS));
  const std::uint32_t taken = node.segment().units().num_taken();
  EXPECT_EQ(taken, BarrierBlock::num_units(node.plan()));
  EXPECT_TRUE(node.block(1).is_of(1));
  EXPECT_FALSE(node.block(1).is_of(2));
  node.block(2).detach();
  node.block(0).detach();
  EXPECT_EQ(node.segment().units().num_taken(), taken);
  node.block(1).detach();
  EXPECT_EQ(node.segment().units().num_taken(), 0u);
}

TEST(BarrierBlock, AtMost512BytesForARank) {
  for (std::uint32_t ranks = 2; ranks <= 4; ++ranks) {
    EXPECT_LE(BarrierBlock::num_units(FlatPlan(ranks).plan()) * NodeSegment::kUnitBytes,
              512 * ranks);
  }
}

}  // namespace
}  // namespace hierbar::mpi

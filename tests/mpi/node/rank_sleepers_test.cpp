// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks that sleep, each a process of its own, where the sleepers fence for the writers
// (membarrier). A wake-up that is lost becomes a ctest timeout.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bench/common/random.hpp"
#include "mpi/node/barrier_block.hpp"
#include "mpi/node/fences.hpp"
#include "mpi/node/rank_host.hpp"
#include "mpi/node/segment.hpp"
#include "tests/support/refused_membarrier.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::mpi {
namespace {

constexpr int kRight = 0, kWrong = 1, kNoFence = 77;
constexpr long kOneHourNs = 3'600'000'000'000;

bool keep_still(void*) noexcept { return false; }
void ignore_overdue(void*, long) noexcept {}

// Sleeps at once, and for so long each time.
Waiting sleeping(long sleep_ns) {
  Waiting waiting;
  waiting.spin_polls = waiting.polls_between_progress = waiting.yields = 0;
  waiting.first_sleep_ns = waiting.longest_sleep_ns = sleep_ns;
  return waiting;
}

// Computes for a while, so that the others' waits end asleep, awake, and in between.
void be_late(std::uint64_t drawn) {
  for (volatile std::uint64_t left = drawn % 4 == 0 ? drawn >> 8 & 0xffff : drawn >> 8 & 0xff;
       left > 0;)
    left = left - 1;
}

// What the ranks of a node share: the segment with the block, and a count of episodes for each.
class Node {
 public:
  explicit Node(const test::TestPlan& plan)
      : owner_(plan),
        plan_(owner_.view()),
        segment_(*NodeSegment::create(plan_.num_participants, 1 << 20)),
        first_unit_(*segment_->units().claim(BarrierBlock::num_units(plan_),
                                             BarrierBlock::alignment(plan_, 4096))),
        episodes_(static_cast<std::atomic<std::uint32_t>*>(mmap(
            nullptr, kEpisodesBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    const BarrierBlock block(segment_, first_unit_, plan_);
    for (std::uint32_t me = 0; me < plan_.num_participants; ++me) EXPECT_TRUE(block.clear_slot(me));
    block.publish(segment_->next_generation());
  }
  ~Node() { munmap(episodes_, kEpisodesBytes); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Each rank counts its episodes, and reads the others' counts behind each barrier: of relaxed
  // accesses the barrier alone makes a right number.
  int cross_late(std::uint32_t me, const Waiting& waiting, std::uint32_t first,
                 std::uint32_t last) {
    const WaitDuties duties{keep_still, ignore_overdue, nullptr};
    const BarrierBlock block(segment_, first_unit_, plan_);
    const RankBarrier barrier(plan_, block.memory(), Fencing::kBySleepers);
    const auto cross = [&] {
      RankHost host(block, me, waiting, duties);
      RankMem mem(host);
      barrier.cross(mem, me, 0);
    };
    bool is_right = true;
    for (std::uint32_t episode = first; episode <= last; ++episode) {
      be_late(test::mix(episode * 100 + me));
      episodes_[me].store(episode, std::memory_order_relaxed);
      cross();
      for (std::uint32_t p = 0; p < plan_.num_participants; ++p)
        is_right = is_right && episodes_[p].load(std::memory_order_relaxed) == episode;
      cross();
    }
    return is_right ? kRight : kWrong;
  }

 private:
  static constexpr std::size_t kEpisodesBytes = 4096;

  const test::TestPlan owner_;
  const hierbar_plan plan_;
  const std::shared_ptr<NodeSegment> segment_;
  const std::uint32_t first_unit_;
  std::atomic<std::uint32_t>* const episodes_;
};

class RankSleepers : public testing::TestWithParam<std::tuple<test::TestPlan, long>> {
 protected:
  static const test::TestPlan& plan() { return std::get<0>(GetParam()); }
  static std::uint32_t num_ranks() { return plan().view().num_participants; }
  static Waiting waiting() { return sleeping(std::get<1>(GetParam())); }

  void SetUp() override {
    if (!can_fence_ranks()) GTEST_SKIP() << "the system has no global membarrier(2), or refuses it";
  }

  // body(rank) runs in a process for each rank, and returns its status.
  static void expect_right(const std::function<int(std::uint32_t)>& body) {
    std::vector<pid_t> ranks;
    for (std::uint32_t me = 0; me < num_ranks(); ++me) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) std::_Exit(can_fence_ranks() ? body(me) : kNoFence);
      ranks.push_back(child);
    }
    for (const pid_t rank : ranks) {
      int status = 0;
      ASSERT_EQ(waitpid(rank, &status, 0), rank);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kRight) << status;
    }
  }
};

TEST_P(RankSleepers, AreWokenByEveryWriter) {
  Node node(plan());
  expect_right([&](std::uint32_t me) { return node.cross_late(me, waiting(), 1, 1000); });
}

// Whether a process can make the system refuse its fences. An emulator does not let it.
bool can_refuse() {
  const pid_t child = fork();
  if (child == 0)
    std::_Exit(test::refuse_membarrier(EPERM) && !can_fence_ranks() ? kRight : kNoFence);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == kRight;
}

// The last rank polls in place of sleeping from some episode on. The others' fences still reach it.
TEST_P(RankSleepers, AreWokenByARankThatMayNoLongerFence) {
  if (!can_refuse()) GTEST_SKIP() << "the system does not let a process refuse system calls";
  Node node(plan());
  expect_right([&](std::uint32_t me) {
    const int before = node.cross_late(me, waiting(), 1, 50);
    const bool is_as_asked = me != num_ranks() - 1 || test::refuse_membarrier(EPERM);
    const int after = node.cross_late(me, waiting(), 51, 100);
    return !is_as_asked ? kNoFence : before == kRight ? after : before;
  });
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, RankSleepers,
    testing::Combine(testing::Values(test::make_flat(2), test::make_flat(4),
                                     test::make_forest("lines", {{4, 3}, 3, HIERBAR_RELEASE_LINES}),
                                     test::make_forest("flags",
                                                       {{3, 2}, 2, HIERBAR_RELEASE_FLAGS})),
                     testing::Values(kOneHourNs, 20'000L)),
    [](const auto& instance) {
      return std::get<0>(instance.param).name() +
             (std::get<1>(instance.param) == kOneHourNs ? "_sleep_long" : "_nap");
    });

}  // namespace
}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Waiters that sleep, with the longest sleeps that there are, so that a lost wake-up is a ctest
// timeout: where the system lets them fence for the writers (membarrier), where it refuses that
// from the start or later, and in a forked child.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "api_support.hpp"
#include "base/membarrier.hpp"
#include "bench/common/random.hpp"
#include "tests/api/api_support.hpp"
#include "tests/support/refused_membarrier.hpp"

namespace hierbar::test {
namespace {

constexpr int kRight = 0;
constexpr int kNoFilters = 77;

// Computes for a while, so that the others' waits end asleep, awake, and in between.
void be_late(std::uint64_t drawn) {
  for (volatile std::uint64_t left = drawn % 4 == 0 ? drawn >> 8 & 0xffff : drawn >> 8 & 0xff;
       left > 0;)
    left = left - 1;
}

// Each participant counts its episodes, and reads the others' counts behind each barrier. Returns
// how many were wrong.
std::uint32_t cross_late(hierbar_barrier* barrier, std::uint32_t num_episodes) {
  const std::uint32_t count = hierbar_barrier_num_participants(barrier);
  std::vector<std::uint32_t> episodes(count * 64, 0);
  std::atomic<std::uint32_t> errors{0};
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me < count; ++me) {
    threads.emplace_back([&, me] {
      for (std::uint32_t episode = 1; episode <= num_episodes; ++episode) {
        be_late(mix(episode * 100 + me));
        episodes[me * 64] = episode;
        if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) ++errors;
        for (std::uint32_t p = 0; p < count; ++p) errors += episodes[p * 64] == episode ? 0 : 1;
        if (hierbar_barrier_wait(barrier, me) != HIERBAR_OK) ++errors;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

BarrierHandle create_sleeping(std::uint32_t count) {
  hierbar_attributes attributes = attributes_of(count, kSleeping);
  hierbar_barrier* barrier = nullptr;
  EXPECT_EQ(hierbar_barrier_create(&attributes, &barrier), HIERBAR_OK);
  return BarrierHandle(barrier);
}

class SleepersOfApi : public testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(SleepersOfApi, AreWokenByEveryWriter) {
  EXPECT_EQ(cross_late(create_sleeping(GetParam()).get(), 3000), 0U);
}

[[noreturn]] void cross_refused_from_the_start(std::uint32_t count, int error) {
  if (!refuse_membarrier(error)) std::_Exit(kNoFilters);
  std::_Exit(!can_fence_threads() && cross_late(create_sleeping(count).get(), 1000) == 0 ? kRight
                                                                                         : 1);
}

TEST_P(SleepersOfApi, AreWokenWhereTheFenceIsRefusedFromTheStart) {
  for (const int error : {EPERM, ENOSYS})
    EXPECT_EXIT(cross_refused_from_the_start(GetParam(), error), testing::ExitedWithCode(kRight),
                "");
}

// What the barrier is was decided before. Waiters poll in place of sleeping then.
[[noreturn]] void cross_refused_later(std::uint32_t count) {
  const BarrierHandle barrier = create_sleeping(count);
  std::uint32_t errors = cross_late(barrier.get(), 100);
  if (!refuse_membarrier(EPERM)) std::_Exit(kNoFilters);
  errors += cross_late(barrier.get(), 100);
  std::_Exit(errors == 0 && !fence_threads() ? kRight : 1);
}

TEST_P(SleepersOfApi, ReturnWhereTheFenceIsRefusedLater) {
  EXPECT_EXIT(cross_refused_later(GetParam()), testing::ExitedWithCode(kRight), "");
}

// A child has the memory of its parent's barriers, and may cross them with threads of its own.
TEST_P(SleepersOfApi, AreWokenInAForkedChild) {
  const BarrierHandle barrier = create_sleeping(GetParam());
  EXPECT_EQ(cross_late(barrier.get(), 100), 0U);
  const pid_t child = fork();
  if (child == 0) std::_Exit(cross_late(barrier.get(), 1000) == 0 ? kRight : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kRight) << status;
}

INSTANTIATE_TEST_SUITE_P(Participants, SleepersOfApi, testing::Values(2U, 3U, 7U),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hierbar::test

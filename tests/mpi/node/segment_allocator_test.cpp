// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/segment_allocator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "bench/common/random.hpp"

namespace hierbar::mpi {
namespace {

struct Map {
  explicit Map(std::uint32_t num_units)
      : words(SegmentAllocator::num_words(num_units)), units(words.data(), num_units) {}
  std::vector<SegmentAllocator::Word> words;
  SegmentAllocator units;
};

TEST(SegmentAllocator, RunsAreDisjointAndFillTheMapExactly) {
  Map map(200);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(map.units.claim(10, 1), i * 10);
  EXPECT_EQ(map.units.claim(1, 1), std::nullopt);
  EXPECT_EQ(map.units.num_taken(), 200u);
}

TEST(SegmentAllocator, ARunThatIsGivenBackIsFoundAgain) {
  Map map(200);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(map.units.claim(10, 1));
  map.units.release(60, 10);
  map.units.release(80, 10);
  EXPECT_EQ(map.units.claim(11, 1), std::nullopt);
  EXPECT_EQ(map.units.claim(10, 1), 60u);
  map.units.release(70, 10);
  EXPECT_EQ(map.units.claim(20, 1), 70u);
}

TEST(SegmentAllocator, RunsStartWhereTheyMust) {
  Map map(100);
  EXPECT_EQ(map.units.claim(3, 1), 0u);
  EXPECT_EQ(map.units.claim(3, 8), 8u);
  EXPECT_EQ(map.units.claim(64, 32), 32u);
  EXPECT_EQ(map.units.claim(5, 8), 16u);
  EXPECT_EQ(map.units.claim(16, 16), std::nullopt);
}

TEST(SegmentAllocator, NothingAndMoreThanThereIsCannotBeClaimed) {
  Map map(100);
  EXPECT_EQ(map.units.claim(0, 1), std::nullopt);
  EXPECT_EQ(map.units.claim(101, 1), std::nullopt);
  EXPECT_EQ(map.units.claim(100, 1), 0u);
}

// A word that calls somebody before each exchange, so that a claim can be stopped half way.
thread_local std::function<void(const void* word)> before_exchange;

template <class Value>
class StoppableAtomic : public std::atomic<Value> {
 public:
  bool compare_exchange_weak(Value& expected, Value desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    if (before_exchange) before_exchange(this);
    return std::atomic<Value>::compare_exchange_weak(expected, desired, success, failure);
  }
};

struct StoppableMap {
  explicit StoppableMap(std::uint32_t num_units)
      : words(Units::num_words(num_units)), units(words.data(), num_units) {}
  using Units = BasicSegmentAllocator<StoppableAtomic>;
  std::vector<Units::Word> words;
  Units units;
};

// Two words of units. One claim wants all of them and has the first word; then all of the second
// are taken by others for good, so it will have to give the first word back. `meanwhile` runs
// before that.
void stop_claim_half_way(StoppableMap& map, const std::function<void()>& meanwhile) {
  bool was_stopped = false;
  before_exchange = [&](const void* word) {
    if (word != &map.words[1] || was_stopped) return;
    was_stopped = true;
    map.words[1].store(~std::uint64_t{0});
    meanwhile();
  };
  EXPECT_EQ(map.units.claim(128, 1), std::nullopt);
  EXPECT_TRUE(was_stopped);
  before_exchange = nullptr;
}

TEST(SegmentAllocator, IsNotFullBecauseOfUnitsThatAreGivenBack) {
  StoppableMap map(128);
  std::optional<std::uint32_t> claimed;
  std::atomic<bool> has_searched = false;
  std::thread other;
  stop_claim_half_way(map, [&] {
    other = std::thread([&] {
      claimed = map.units.claim(1, 1, [&](int) {
        has_searched = true;
        std::this_thread::yield();
        return true;
      });
      has_searched = true;
    });
    while (!has_searched) std::this_thread::yield();
  });
  other.join();
  ASSERT_TRUE(claimed);
  EXPECT_LT(*claimed, 64u);
}

TEST(SegmentAllocator, WaitsForAClaimThatMakesNoProgressAsLongAsTheCallerWants) {
  StoppableMap map(128);
  std::vector<int> waits;
  stop_claim_half_way(map, [&] {
    const auto claimed = map.units.claim(1, 1, [&](int num_idle) {
      waits.push_back(num_idle);
      return num_idle < 3;
    });
    EXPECT_EQ(claimed, std::nullopt);
  });
  EXPECT_EQ(waits, (std::vector<int>{1, 2, 3}));
}

TEST(SegmentAllocator, IsFullAtOnceWhenNobodyIsClaiming) {
  Map map(128);
  EXPECT_EQ(map.units.claim(128, 1), 0u);
  const auto never = [](int) {
    ADD_FAILURE() << "there is nobody to wait for";
    return false;
  };
  EXPECT_EQ(map.units.claim(1, 1, never), std::nullopt);
}

// Each owner writes into all of its units; if two ever owned one, a sum would be wrong, and
// ThreadSanitizer would see the race that the orderings of claim and release exclude.
TEST(SegmentAllocator, ConcurrentOwnersNeverShareAUnit) {
  constexpr std::uint32_t kUnits = 150, kThreads = 4;
  Map map(kUnits);
  std::vector<std::uint64_t> plain(kUnits);
  std::atomic<int> wrong{0}, served{0};
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      test::Random random(thread);
      for (int round = 0; round < 20'000; ++round) {
        const std::uint32_t count = 1 + random.below(70);
        const auto first = map.units.claim(count, 1);
        if (!first) continue;
        ++served;
        const std::uint64_t mine = random.next();
        for (std::uint32_t i = 0; i < count; ++i) plain[*first + i] = mine + i;
        for (std::uint32_t i = 0; i < count; ++i) wrong += plain[*first + i] != mine + i;
        map.units.release(*first, count);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(served, 20'000);
  EXPECT_EQ(map.units.num_taken(), 0u);
}

}  // namespace
}  // namespace hierbar::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/unit_map.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/random.hpp"

namespace hierbar::mpi {
namespace {

struct Map {
  explicit Map(std::uint32_t num_units) : words(UnitMap::num_words(num_units)), units(words.data(), num_units) {}
  std::vector<UnitMap::Word> words;
  UnitMap units;
};

TEST(UnitMap, RunsAreDisjointAndFillTheMapExactly) {
  Map map(200);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(map.units.claim(10, 1), i * 10);
  EXPECT_EQ(map.units.claim(1, 1), std::nullopt);
  EXPECT_EQ(map.units.num_taken(), 200u);
}

TEST(UnitMap, ARunThatIsGivenBackIsFoundAgain) {
  Map map(200);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(map.units.claim(10, 1));
  map.units.release(60, 10);
  map.units.release(80, 10);
  EXPECT_EQ(map.units.claim(11, 1), std::nullopt);
  EXPECT_EQ(map.units.claim(10, 1), 60u);
  map.units.release(70, 10);
  EXPECT_EQ(map.units.claim(20, 1), 70u);
}

TEST(UnitMap, RunsStartWhereTheyMust) {
  Map map(100);
  EXPECT_EQ(map.units.claim(3, 1), 0u);
  EXPECT_EQ(map.units.claim(3, 8), 8u);
  EXPECT_EQ(map.units.claim(64, 32), 32u);
  EXPECT_EQ(map.units.claim(5, 8), 16u);
  EXPECT_EQ(map.units.claim(16, 16), std::nullopt);
}

TEST(UnitMap, NothingAndMoreThanThereIsCannotBeClaimed) {
  Map map(100);
  EXPECT_EQ(map.units.claim(0, 1), std::nullopt);
  EXPECT_EQ(map.units.claim(101, 1), std::nullopt);
  EXPECT_EQ(map.units.claim(100, 1), 0u);
}

// Each owner writes into all of its units; if two ever owned one, a sum would be wrong, and ThreadSanitizer would see the race
// that the orderings of claim and release exclude.
TEST(UnitMap, ConcurrentOwnersNeverShareAUnit) {
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

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "barrier/algorithm.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/barrier/thread_trial.hpp"
#include "tests/support/pages.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::test {
namespace {

TEST(Algorithm, HasANameThatParses) {
  for (const NamedAlgorithm& named : kAlgorithms) {
    EXPECT_EQ(algorithm_name(named.algorithm), named.name);
    EXPECT_EQ(parse_algorithm(named.name), named.algorithm);
  }
  EXPECT_EQ(parse_algorithm("Sense-Reversing-GR"), Algorithm::kSenseReversingGr);
  for (const char* bad : {"", "tournament", "mcs ", "sense", "sense-reversing-"})
    EXPECT_FALSE(parse_algorithm(bad)) << bad;
}

TEST(Algorithm, IsOneOfThoseThatMessagesAllow) {
  std::string all;
  for (const NamedAlgorithm& named : kAlgorithms)
    all += (all.empty() ? "" : ", ") + std::string(named.name);
  EXPECT_EQ(all, kAllowedAlgorithms);
}

TEST(Algorithm, HasARowInThePageAboutAlgorithms) {
  const std::vector<std::string> rows = table_rows("reference/algorithms.md");
  for (const NamedAlgorithm& named : kAlgorithms) {
    if (named.algorithm == Algorithm::kHier) continue;
    EXPECT_TRUE(has_row_with(rows, {"| `" + std::string(named.name) + "` |"})) << named.name;
  }
}

// A memory that is mapped at two addresses, as two processes have it.
class TwoMappings {
 public:
  explicit TwoMappings(std::size_t size_bytes) : size_bytes_(size_bytes) {
    const int file = memfd_create("hierbar_algorithm_test", 0);
    if (ftruncate(file, static_cast<off_t>(size_bytes)) != 0) return;
    for (void*& address : addresses_)
      address = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
  }
  ~TwoMappings() {
    for (void* address : addresses_) munmap(address, size_bytes_);
  }
  TwoMappings(const TwoMappings&) = delete;
  TwoMappings& operator=(const TwoMappings&) = delete;

  void* get(std::uint32_t index) const { return addresses_[index]; }

 private:
  std::size_t size_bytes_;
  void* addresses_[2] = {MAP_FAILED, MAP_FAILED};
};

// Each participant also has its own plan. The threads are ThreadTrial's, whose memory stays unused.
TEST(Algorithm, DoesNotDependOnWhereItsMemoryIs) {
  constexpr std::uint32_t kCount = 5;
  constexpr std::uint64_t kNumRounds = 50;
  for (const NamedAlgorithm& named : kAlgorithms) {
    const auto make_plan = [] { return make_forest("forest", {{3, 2}, 2, HIERBAR_RELEASE_FLAGS}); };
    const TwoMappings memory(barrier_size_bytes<ThreadMem>(named.algorithm, make_plan().view()));
    ASSERT_NE(memory.get(0), MAP_FAILED);
    ASSERT_NE(memory.get(1), MAP_FAILED);
    // Atomic, because ThreadSanitizer does not know that the two mappings are the same memory. So
    // it does not know either that the barrier orders anything.
    std::vector<std::atomic<std::uint64_t>> rounds(kCount);
    ThreadTrial trial(make_plan(), {.spin_polls = 0, .yields = 2});
    trial.run([&](ThreadMem& mem, std::uint32_t me) {
      const TestPlan owner = make_plan();
      const hierbar_plan plan = owner.view();
      for (std::uint64_t round = 1; round <= kNumRounds; ++round) {
        rounds[me].store(round, std::memory_order_relaxed);
        EXPECT_EQ(cross(named.algorithm, plan, memory.get(me % 2), mem, me), WaitResult::kReleased);
        for (const auto& other : rounds)
          EXPECT_EQ(other.load(std::memory_order_relaxed), round) << named.name;
        EXPECT_EQ(cross(named.algorithm, plan, memory.get(me % 2), mem, me), WaitResult::kReleased);
      }
    });
  }
}

using Flags = Blocks<ThreadMem>;

TEST(Blocks, LieApartByLinesAndStayInTheirMemory) {
  for (const std::uint32_t num_flags : {1U, 2U, 3U, 6U, 7U, 20U}) {
    // It has gaps between its slots.
    const TestPlan forest = make_forest("forest", {{3, 2}, 2, HIERBAR_RELEASE_FLAGS});
    const hierbar_plan plan = forest.view();
    std::vector<std::byte> memory(Flags::size_bytes(plan, num_flags));
    const Flags blocks(plan, memory.data(), num_flags);
    std::vector<bool> used(memory.size() / plan.line_bytes);
    const auto take = [&](const void* line) {
      const auto offset =
          static_cast<std::size_t>(static_cast<const std::byte*>(line) - memory.data());
      EXPECT_EQ(offset % plan.line_bytes, 0U);
      ASSERT_LT(offset, memory.size());
      EXPECT_FALSE(used[offset / plan.line_bytes]) << "no line is shared";
      used[offset / plan.line_bytes] = true;
    };
    for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
      take(&blocks.own(p));
      take(&blocks.counter(p));
      for (std::uint32_t i = 0; i < num_flags; ++i) take(&blocks.flag(p, i));
    }
  }
}

TEST(Blocks, CoverWholeSlotsSoThatTheyKeepToTheirPages) {
  const TestPlan flat = make_flat(1);
  const hierbar_plan plan = flat.view();
  const std::size_t slot_bytes = std::size_t{HIERBAR_LINES_PER_SLOT} * plan.line_bytes;
  EXPECT_EQ(Flags::size_bytes(plan, 1), slot_bytes);
  EXPECT_EQ(Flags::size_bytes(plan, 2), slot_bytes);
  EXPECT_EQ(Flags::size_bytes(plan, 3), 2 * slot_bytes);
  EXPECT_EQ(Flags::size_bytes(plan, 7), 4 * slot_bytes);
}

TEST(NumDoublings, RoundsUp) {
  const std::uint32_t counts[] = {1, 2, 3, 4, 5, 8, 9, 1U << 20, 0xFFFFFFFF};
  const std::uint32_t rounds[] = {0, 1, 2, 2, 3, 3, 4, 20, 32};
  for (std::size_t i = 0; i < std::size(counts); ++i)
    EXPECT_EQ(num_doublings(counts[i]), rounds[i]) << counts[i];
}

}  // namespace
}  // namespace hierbar::test

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "barrier/awaited_word.hpp"
#include "barrier/barrier_memory.hpp"
#include "barrier/flat_plan.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar {
namespace {

constexpr Epoch epoch_number(std::uint64_t number) { return number << kEpochShift; }

constexpr std::uint64_t kLastEpoch = (std::uint64_t{1} << 56) - 1;
constexpr std::uint64_t kSignBoundary = std::uint64_t{1} << 55;

TEST(Word, KeepsEpochAndPayloadApart) {
  const WordValue word = make_word(epoch_number(5), 0x2A);
  EXPECT_EQ(word, 5U << 8 | 0x2AU << 2);
  EXPECT_EQ(epoch_of(word), epoch_number(5));
  EXPECT_EQ(payload_of(word), 0x2AU);
}

TEST(Word, HoldsTheLargestEpochAndPayload) {
  const WordValue word = make_word(epoch_number(kLastEpoch), kPayloadMask);
  EXPECT_EQ(word, ~WordValue{3}) << "the sleep bit and bit 1 stay clear";
  EXPECT_EQ(epoch_of(word), epoch_number(kLastEpoch));
  EXPECT_EQ(payload_of(word), kPayloadMask);
}

TEST(Word, DropsPayloadBitsThatDoNotFit) { EXPECT_EQ(make_word(0, kPayloadMask + 1), 0U); }

TEST(Word, IgnoresTheSleepBit) {
  const WordValue word = make_word(epoch_number(7), 3) | kSleepBit;
  EXPECT_EQ(epoch_of(word), epoch_number(7));
  EXPECT_EQ(payload_of(word), 3U);
  EXPECT_TRUE(reached(word, epoch_number(7)));
}

TEST(Epoch, WrapsAroundToZero) { EXPECT_EQ(next_epoch(epoch_number(kLastEpoch)), 0U); }

TEST(Epoch, IsReachedByItselfAndTheNextButNotByTheOneBefore) {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{1}, kSignBoundary - 1, kSignBoundary, kLastEpoch}) {
    const Epoch epoch = epoch_number(number);
    EXPECT_TRUE(reached(make_word(epoch, 0), epoch)) << number;
    EXPECT_TRUE(reached(make_word(next_epoch(epoch), 0), epoch)) << number;
    EXPECT_FALSE(reached(make_word(epoch, kPayloadMask), next_epoch(epoch))) << number;
  }
}

TEST(Epoch, IsComparedRightlyUpToHalfTheRangeAway) {
  const Epoch epoch = epoch_number(kLastEpoch - 3);
  EXPECT_TRUE(reached(epoch + epoch_number(kSignBoundary - 1), epoch));
  EXPECT_FALSE(reached(epoch - epoch_number(kSignBoundary), epoch));
}

}  // namespace
}  // namespace hierbar

namespace hierbar::test {
namespace {

using Word = std::atomic<std::uint64_t>;

TEST(BarrierMemory, AreApartByTheLineSizeOfThePlan) {
  const TestPlan forest = make_forest("forest", {{3, 3}, 2, HIERBAR_RELEASE_FLAGS});
  for (const std::uint32_t line_bytes : {64U, 128U, 256U}) {
    hierbar_plan plan = forest.view();
    plan.line_bytes = line_bytes;
    std::vector<std::byte> memory(BarrierMemory<Word>::size_bytes(plan) + line_bytes);
    const BarrierMemory<Word> lines(memory.data(), line_bytes);
    std::set<std::size_t> offsets;
    for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
      const std::uint32_t slot = plan.nodes[p].slot;
      for (const void* line :
           {static_cast<void*>(&lines.edge(slot)), static_cast<void*>(&lines.group(slot)),
            static_cast<void*>(&lines.own(slot)), lines.host(slot)}) {
        offsets.insert(
            static_cast<std::size_t>(static_cast<const std::byte*>(line) - memory.data()));
      }
    }
    EXPECT_EQ(offsets.size(), 4 * plan.num_participants) << "no line is shared";
    for (const std::size_t offset : offsets) {
      EXPECT_EQ(offset % line_bytes, 0U);
      EXPECT_LE(offset + line_bytes, BarrierMemory<Word>::size_bytes(plan));
    }
  }
}

TEST(BarrierMemory, TakeAtMostAKibibytePerParticipant) {
  const FlatPlan flat(4, 256);
  const hierbar_plan& plan = flat.plan();
  EXPECT_LE(BarrierMemory<Word>::size_bytes(plan) / plan.num_participants, 1024U);
}

TEST(FlatPlan, MakesEverybodyALeader) {
  for (std::uint32_t count = 1; count <= kMaxMachineIndependent; ++count) {
    const FlatPlan flat(count);
    const hierbar_plan& plan = flat.plan();
    EXPECT_EQ(plan.abi_version, HIERBAR_PLAN_ABI_VERSION);
    EXPECT_EQ(plan.num_participants, count);
    EXPECT_EQ(plan.num_leaders, count);
    EXPECT_EQ(plan.num_slots, count);
    EXPECT_EQ(plan.line_bytes, 128U);
    EXPECT_EQ(plan.depth, count == 1 ? 0U : 1U);
    for (std::uint32_t p = 0; p < count; ++p) {
      EXPECT_EQ(plan.leaders[p], p);
      EXPECT_EQ(plan.nodes[p].parent, p);
      EXPECT_EQ(plan.nodes[p].num_children, 0U);
      EXPECT_EQ(plan.nodes[p].slot, p);
    }
  }
}

}  // namespace
}  // namespace hierbar::test

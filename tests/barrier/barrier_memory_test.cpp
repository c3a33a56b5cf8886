// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "barrier/barrier_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "barrier/flat_plan.hpp"
#include "tests/support/test_plans.hpp"

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
      for (const void* line : {static_cast<void*>(&lines.edge(slot)), static_cast<void*>(&lines.group(slot)),
                               static_cast<void*>(&lines.own(slot)), lines.host(slot)}) {
        offsets.insert(static_cast<std::size_t>(static_cast<const std::byte*>(line) - memory.data()));
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

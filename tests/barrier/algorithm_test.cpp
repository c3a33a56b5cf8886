// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "barrier/algorithm.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/test_plans.hpp"
#include "thread_trial.hpp"

namespace hierbar::test {
namespace {

TEST(Algorithm, HasANameThatParses) {
  for (const NamedAlgorithm& named : kAlgorithms) {
    EXPECT_EQ(algorithm_name(named.algorithm), named.name);
    EXPECT_EQ(parse_algorithm(named.name), named.algorithm);
  }
  EXPECT_EQ(parse_algorithm("Sense-Reversing-GR"), Algorithm::kSenseReversingGr);
  for (const char* bad : {"", "tournament", "mcs ", "sense", "sense-reversing-"}) EXPECT_FALSE(parse_algorithm(bad)) << bad;
}

TEST(Algorithm, IsOneOfThoseThatMessagesAllow) {
  std::string all;
  for (const NamedAlgorithm& named : kAlgorithms) all += (all.empty() ? "" : ", ") + std::string(named.name);
  EXPECT_EQ(all, kAllowedAlgorithms);
}

using Flags = Blocks<ThreadMem>;

TEST(Blocks, LieApartByLinesAndStayInTheirMemory) {
  for (const std::uint32_t num_flags : {1U, 2U, 3U, 6U, 7U, 20U}) {
    const TestPlan forest = make_forest("forest", {{3, 2}, 2, HIERBAR_RELEASE_FLAGS});  // with gaps between slots
    const hierbar_plan plan = forest.view();
    std::vector<std::byte> memory(Flags::size_bytes(plan, num_flags));
    const Flags blocks(plan, memory.data(), num_flags);
    std::vector<bool> used(memory.size() / plan.line_bytes);
    const auto take = [&](const void* line) {
      const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(line) - memory.data());
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
  for (std::size_t i = 0; i < std::size(counts); ++i) EXPECT_EQ(num_doublings(counts[i]), rounds[i]) << counts[i];
}

}  // namespace
}  // namespace hierbar::test

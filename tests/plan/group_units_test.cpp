// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan/group_units.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"
#include "tests/support/test_plans.hpp"
#include "trace/stamps.h"

namespace hierbar {
namespace {

using ::testing::ElementsAre;

// On the Kunpeng of the tests: L2 of one cpu, clusters of 4, an L3 and NUMA node of 32, packages of
// 64.
GroupUnits units_on_kunpeng(std::vector<std::uint32_t> parents, const std::vector<CpuSet>& bindings) {
  const test::TestPlan plan("tree", std::move(parents), HIERBAR_RELEASE_FLAGS);
  const Machine machine = test::make_kunpeng();
  return find_group_units(plan.view(), machine, locate_all(machine, bindings));
}

CpuSet cpu(std::uint32_t number) { return CpuSet::range(number, number); }

TEST(GroupUnits, AreTheSmallestThatHoldTheWholeGroup) {
  const GroupUnits units = units_on_kunpeng({0, 0, 0, 2, 4, 4}, {cpu(0), cpu(1), cpu(31), cpu(30), cpu(64), cpu(96)});
  EXPECT_THAT(units.gather, ElementsAre(HIERBAR_UNIT_L3, HIERBAR_UNIT_UNKNOWN, HIERBAR_UNIT_CLUSTER, HIERBAR_UNIT_UNKNOWN,
                                        HIERBAR_UNIT_PACKAGE, HIERBAR_UNIT_UNKNOWN));
  EXPECT_EQ(units.exchange, HIERBAR_UNIT_MACHINE);
}

TEST(GroupUnits, AreNotBelievedToBeSmallerThanABinding) {
  const GroupUnits units = units_on_kunpeng({0, 0}, {CpuSet::range(0, 63), cpu(1)});
  EXPECT_EQ(units.gather[0], HIERBAR_UNIT_PACKAGE);
  EXPECT_EQ(units.exchange, HIERBAR_UNIT_PACKAGE) << "of one leader, where it may run";
}

TEST(GroupUnits, AreUnknownWhereSomebodyIsNotBound) {
  const GroupUnits units = units_on_kunpeng({0, 0, 2, 2}, {cpu(0), CpuSet(), cpu(8), cpu(9)});
  EXPECT_THAT(units.gather, ElementsAre(HIERBAR_UNIT_UNKNOWN, HIERBAR_UNIT_UNKNOWN, HIERBAR_UNIT_CLUSTER, HIERBAR_UNIT_UNKNOWN));
  EXPECT_EQ(units.exchange, HIERBAR_UNIT_L3);
}

}  // namespace
}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology/machine.hpp"

#include <gmock/gmock.h>

#include "tests/support/machines.hpp"

namespace hierbar {
namespace {

TEST(Machine, FindsTheSmallestUnitAroundCpus) {
  const Machine machine = test::make_kunpeng();
  const auto smallest = [&](std::uint32_t a, std::uint32_t b) -> const Unit& {
    return machine.units[machine.smallest_unit_containing(CpuSet::range(a, a) | CpuSet::range(b, b))];
  };
  EXPECT_TRUE(smallest(5, 5).has(Level::kCore));
  EXPECT_TRUE(smallest(4, 7).has(Level::kCluster));
  EXPECT_TRUE(smallest(0, 31).has(Level::kNuma));
  EXPECT_TRUE(smallest(0, 63).has(Level::kPackage));
  EXPECT_TRUE(smallest(63, 64).has(Level::kMachine));
}

TEST(Machine, IgnoresCpusThatItDoesNotHave) {
  const Machine machine = test::make_kunpeng();
  const CpuSet partly_absent = CpuSet::range(127, 1000);
  EXPECT_TRUE(machine.units[machine.smallest_unit_containing(partly_absent)].has(Level::kCore));
  EXPECT_EQ(machine.smallest_unit_containing(CpuSet::range(128, 1000)), -1);
  EXPECT_EQ(machine.smallest_unit_containing(CpuSet()), -1);
}

TEST(Machine, PicksOneCpuOfEveryCoreThatHasOne) {
  const Machine machine = test::make_hybrid();  // cpus 0-11 are six cores, 12-19 are eight
  EXPECT_EQ(machine.one_cpu_per_core(machine.present).to_string(), "0,2,4,6,8,10,12-19");
  EXPECT_EQ(machine.one_cpu_per_core(*CpuSet::parse("1,4-5,13")).to_string(), "1,4,13");
  EXPECT_TRUE(machine.one_cpu_per_core(CpuSet()).empty());
}

}  // namespace
}  // namespace hierbar

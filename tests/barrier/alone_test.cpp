// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who polls before it yields, where participants outnumber the cpus.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "barrier/barrier.hpp"
#include "barrier/real_mem.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar {
namespace {

// Notes what it is told, and gives up at once.
struct NotingHost {
  std::vector<bool> told;
  int spin_looks(bool crew_waits) {
    told.push_back(crew_waits);
    return 0;
  }
  int pauses_per_look() const { return 1; }
  bool can_sleep() const { return false; }
  WaitResult wait(AwaitedWord<RealMem<NotingHost>>&) { return WaitResult::kAborted; }
  void wake(std::uint32_t) {}
  bool heavy_fence() { return false; }
};

// What the participants are told who arrive in this order, up to the last of all.
std::vector<bool> told_in(const test::TestPlan& owner, const std::vector<std::uint32_t>& order) {
  const hierbar_plan plan = owner.view();
  const std::size_t bytes = Barrier<RealMem<NotingHost>>::size_bytes(plan);
  const std::unique_ptr<void, decltype(&std::free)> lines(std::aligned_alloc(plan.line_bytes, bytes), &std::free);
  std::memset(lines.get(), 0, bytes);
  const Barrier<RealMem<NotingHost>> barrier(plan, lines.get());
  NotingHost host;
  RealMem<NotingHost> mem(host);
  for (const std::uint32_t me : order) barrier.cross(mem, me, 0);
  return host.told;
}

TEST(Alone, TheLastOfACrewIsToldThatNobodyNeedsItsCpu) {
  const auto crews = test::make_crews(4, 2);  // 0 and 2, 1 and 3
  EXPECT_EQ(told_in(crews, {0, 1, 2, 3}), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(told_in(crews, {2, 0, 3, 1}), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(told_in(test::make_crews(3, 2), {1, 0, 2}), (std::vector<bool>{true, false})) << "a crew of one";
}

TEST(Alone, NobodyIsWhereNoCrewsAre) { EXPECT_EQ(told_in(test::make_flat(3), {0, 1, 2}), (std::vector<bool>{false, false})); }

}  // namespace
}  // namespace hierbar

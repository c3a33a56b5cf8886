// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The simulated memory is as weak as it is said to be, and no weaker: the classic litmus tests.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "tests/barrier/simulated/sim_machine.hpp"

namespace hierbar::test {
namespace {

using Order = SimMachine::Order;

constexpr std::uint32_t kData = 0;
constexpr std::uint32_t kFlag = 1;
constexpr std::uint64_t kNumSchedules = 2000;

// The number of schedules of two participants in which the result was seen.
int count_schedules(const std::function<void(SimMachine&, std::uint32_t me)>& body,
                    const std::function<bool()>& result) {
  SimMachine machine(2, 2, 1);
  int count = 0;
  for (std::uint64_t seed = 1; seed <= kNumSchedules; ++seed) {
    machine.begin(seed);
    EXPECT_EQ(machine.run([&](std::uint32_t me) { body(machine, me); }).failure, Failure::kNone);
    if (result()) ++count;
  }
  return count;
}

int stores_seen_late_by_both(bool fenced) {
  std::uint64_t seen[2];
  const auto body = [&](SimMachine& machine, std::uint32_t me) {
    machine.store(me, me, 1, Order::kOrdered);
    if (fenced) machine.fence(me);
    seen[me] = machine.load(me, 1 - me, Order::kOrdered);
  };
  return count_schedules(body, [&] { return seen[0] == 0 && seen[1] == 0; });
}

int flags_seen_before_data(Order store_order, Order load_order) {
  std::uint64_t flag = 0;
  std::uint64_t data = 0;
  const auto body = [&](SimMachine& machine, std::uint32_t me) {
    if (me == 0) {
      machine.store(me, kData, 1, Order::kRelaxed);
      machine.store(me, kFlag, 1, store_order);
    } else {
      flag = machine.load(me, kFlag, load_order);
      data = machine.load(me, kData, Order::kRelaxed);
    }
  };
  return count_schedules(body, [&] { return flag == 1 && data == 0; });
}

int races_behind_a_flag(Order store_order, Order load_order) {
  SimMachine machine(2, 2, 1);
  int count = 0;
  for (std::uint64_t seed = 1; seed <= kNumSchedules; ++seed) {
    machine.begin(seed);
    const Outcome outcome = machine.run([&](std::uint32_t me) {
      if (me == 0) {
        machine.write_cell(me, 0, 1);
        machine.store(me, kFlag, 1, store_order);
      } else if (machine.load(me, kFlag, load_order) == 1) {
        machine.read_cell(me, 0);
      }
    });
    if (outcome.failure == Failure::kDataRace) ++count;
  }
  return count;
}

TEST(SimulatedMemory, LetsALoadOvertakeAStore) {
  EXPECT_GT(stores_seen_late_by_both(/*fenced=*/false), 0);
}

TEST(SimulatedMemory, KeepsALoadBehindAFence) {
  EXPECT_EQ(stores_seen_late_by_both(/*fenced=*/true), 0);
}

// Participant 0 writes and looks, participant 1 fences for both.
int stores_seen_late_with(bool light, bool heavy) {
  std::uint64_t seen[2];
  const auto body = [&](SimMachine& machine, std::uint32_t me) {
    machine.store(me, me, 1, Order::kOrdered);
    if (me == 0 && light) machine.light_fence(me);
    if (me == 1) heavy ? machine.heavy_fence(me) : machine.fence(me);
    seen[me] = machine.load(me, 1 - me, Order::kRelaxed);
  };
  return count_schedules(body, [&] { return seen[0] == 0 && seen[1] == 0; });
}

TEST(SimulatedMemory, KeepsALoadBehindALightFenceOnlyWhereAHeavyFenceIs) {
  EXPECT_EQ(stores_seen_late_with(/*light=*/true, /*heavy=*/true), 0);
  EXPECT_GT(stores_seen_late_with(/*light=*/true, /*heavy=*/false), 0);
  EXPECT_GT(stores_seen_late_with(/*light=*/false, /*heavy=*/true), 0)
      << "the compiler moves the load";
}

TEST(SimulatedMemory, LetsALoadOvertakeAStoreWhereBothFencesAreLight) {
  std::uint64_t seen[2];
  const auto body = [&](SimMachine& machine, std::uint32_t me) {
    machine.store(me, me, 1, Order::kOrdered);
    machine.light_fence(me);
    seen[me] = machine.load(me, 1 - me, Order::kOrdered);
  };
  EXPECT_GT(count_schedules(body, [&] { return seen[0] == 0 && seen[1] == 0; }), 0);
}

TEST(SimulatedMemory, LetsRelaxedStoresOvertakeEachOther) {
  EXPECT_GT(flags_seen_before_data(Order::kRelaxed, Order::kOrdered), 0);
}

TEST(SimulatedMemory, LetsRelaxedLoadsOvertakeEachOther) {
  EXPECT_GT(flags_seen_before_data(Order::kOrdered, Order::kRelaxed), 0);
}

TEST(SimulatedMemory, OrdersAReleaseAndTheAcquireThatSeesIt) {
  EXPECT_EQ(flags_seen_before_data(Order::kOrdered, Order::kOrdered), 0);
}

TEST(SimulatedMemory, NeverShowsAnOlderValueOfOneWordAfterANewer) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  const auto body = [&](SimMachine& machine, std::uint32_t me) {
    if (me == 0) {
      machine.store(me, kData, 1, Order::kRelaxed);
      machine.store(me, kData, 2, Order::kRelaxed);
    } else {
      first = machine.load(me, kData, Order::kRelaxed);
      second = machine.load(me, kData, Order::kRelaxed);
    }
  };
  EXPECT_EQ(count_schedules(body, [&] { return first > second; }), 0);
  EXPECT_GT(count_schedules(body, [&] { return first == 1 && second == 2; }), 0);
}

TEST(SimulatedMemory, FindsARaceUnlessBothSidesAreOrdered) {
  EXPECT_GT(races_behind_a_flag(Order::kRelaxed, Order::kOrdered), 0);
  EXPECT_GT(races_behind_a_flag(Order::kOrdered, Order::kRelaxed), 0);
  EXPECT_EQ(races_behind_a_flag(Order::kOrdered, Order::kOrdered), 0);
}

TEST(SimulatedMachine, ReportsADeadlockAndEndsTheRun) {
  SimMachine machine(2, 1, 0);
  machine.begin(1);
  const Outcome outcome = machine.run([&](std::uint32_t me) {
    if (me == 0) return;
    machine.load(me, 0, Order::kOrdered);
    machine.watch(me, 0);
  });
  EXPECT_EQ(outcome.failure, Failure::kDeadlock) << outcome.what;
}

}  // namespace
}  // namespace hierbar::test

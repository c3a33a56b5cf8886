// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Regions whose release is passed on, on simulated memory: the payload is plain data beside the
// release word, as in libomp's threads. Broken variants are found.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "barrier/pass_on.hpp"
#include "tests/barrier/simulated/sim_trial.hpp"
#include "tests/support/test_plans.hpp"

namespace hierbar::test {
namespace {

constexpr std::uint64_t kNumRegions = 4;
constexpr std::uint64_t kBump = 4;
using Order = SimMachine::Order;

enum class Fault : std::uint8_t {
  kNone,
  kPayloadAfterRelease,  // who waits for the release may read the payload before it is there
  kWidthsDiffer,         // two threads do not agree on who releases whom
  kReadsBeforeRelease,   // reads its payload after a load that is no acquire
};

// A team that runs regions, with the words and cells of libomp's threads.
class Team {
 public:
  Team(const TestPlan& plan, Fault fault)
      : owner_(plan),
        plan_(owner_.view()),
        fault_(fault),
        machine_(count(), 2 * count(), 2 * count()) {}

  Outcome run(std::uint64_t seed, std::uint32_t width) {
    width_ = width;
    machine_.begin(seed);
    return machine_.run([this](std::uint32_t me) {
      for (std::uint64_t region = 1; region <= kNumRegions; ++region) {
        if (!run_region(me, region)) return;
      }
    });
  }

 private:
  std::uint32_t count() const { return plan_.num_participants; }
  std::uint32_t go(std::uint32_t p) const { return p; }
  std::uint32_t arrived(std::uint32_t p) const { return count() + p; }
  std::uint32_t payload(std::uint32_t p) const { return p; }
  std::uint32_t data(std::uint32_t p) const { return count() + p; }

  bool await(std::uint32_t me, std::uint32_t word, std::uint64_t value) {
    const Order order = fault_ == Fault::kReadsBeforeRelease ? Order::kRelaxed : Order::kOrdered;
    while (machine_.load(me, word, order) != value) {
      if (machine_.is_stopped()) return false;
      machine_.watch(me, word);
    }
    return !machine_.is_stopped();
  }
  void hand_over(std::uint32_t me, std::uint32_t word) {
    machine_.rmw(me, word, Order::kOrdered, [](std::uint64_t before) { return before + kBump; });
  }
  void expect(std::uint32_t me, std::uint64_t value, std::uint64_t expected) {
    if (value != expected)
      machine_.fail(Failure::kWrongValue,
                    "participant " + std::to_string(me) + " reads another region");
  }

  void release(std::uint32_t me, std::uint64_t given) {
    const std::uint32_t width = fault_ == Fault::kWidthsDiffer && me == 1 ? width_ + 1 : width_;
    pass_on(PlanShape{plan_}, me, {width, width}, [&](std::uint32_t other) {
      if (fault_ != Fault::kPayloadAfterRelease) machine_.write_cell(me, payload(other), given);
      hand_over(me, go(other));
      if (fault_ == Fault::kPayloadAfterRelease) machine_.write_cell(me, payload(other), given);
    });
  }

  bool run_region(std::uint32_t me, std::uint64_t region) {
    std::uint64_t given = mix(region);
    if (me != 0) {
      if (!await(me, go(me), kBump * region)) return false;
      expect(me, machine_.read_cell(me, payload(me)), given);
      given = machine_.read_cell(me, payload(me));
    }
    release(me, given);
    machine_.write_cell(me, data(me), region);
    if (!gather(me, region)) return false;
    for (std::uint32_t p = 0; me == 0 && p < count(); ++p)
      expect(me, machine_.read_cell(me, data(p)), region);
    return !machine_.is_stopped();
  }

  bool gather(std::uint32_t me, std::uint64_t region) {
    const PlanShape shape{plan_};
    const hierbar_plan_node& node = shape.node(me);
    for (std::uint32_t i = 0; i < node.num_children; ++i) {
      if (!await(me, arrived(shape.child(node, i)), kBump * region)) return false;
    }
    if (me != 0) {
      hand_over(me, arrived(me));
      return true;
    }
    for (std::uint32_t i = 1; i < shape.num_leaders(); ++i) {
      if (!await(me, arrived(shape.leader(i)), kBump * region)) return false;
    }
    return true;
  }

  const TestPlan owner_;
  const hierbar_plan plan_;
  const Fault fault_;
  std::uint32_t width_ = 0;
  SimMachine machine_;
};

TEST(PassOnSim, EverybodyRunsEachRegionUnderEverySchedule) {
  for (const TestPlan& plan : pass_on_plans()) {
    Team team(plan, Fault::kNone);
    const Seeds seeds = chosen_seeds(plan.view().num_participants > 32 ? 60 : 400);
    for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
      const std::uint32_t width =
          seed % 5 == 0 ? kReleaseAtOnce : 1 + static_cast<std::uint32_t>(seed % 5);
      const Outcome outcome = team.run(seed, width);
      ASSERT_EQ(outcome.failure, Failure::kNone)
          << plan.name() << ", width " << width << " fails: " << outcome.what
          << "\nagain: HIERBAR_TEST_SEED=" << seed;
    }
  }
}

std::uint32_t num_failures(Fault fault) {
  Team team(make_forest("star_20", {{21}, 20, HIERBAR_RELEASE_FLAGS}), fault);
  std::uint32_t result = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    result += team.run(seed, kReleaseWidth).failure != Failure::kNone ? 1 : 0;
  return result;
}

TEST(PassOnSim, FindsEachFault) {
  EXPECT_EQ(num_failures(Fault::kNone), 0U);
  for (const Fault fault :
       {Fault::kPayloadAfterRelease, Fault::kWidthsDiffer, Fault::kReadsBeforeRelease}) {
    EXPECT_GT(num_failures(fault), 0U) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace hierbar::test

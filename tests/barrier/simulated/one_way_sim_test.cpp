// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One-way operations on simulated memory, under many seeded schedules, and what is broken in them:
// each test of those breaks one thing, and expects a report.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/barrier/broken_trial.hpp"
#include "tests/barrier/one_way_subject.hpp"
#include "tests/barrier/simulated/sim_trial.hpp"

namespace hierbar::test {
namespace {

// Both rings are used more than once.
constexpr std::uint32_t kLargeRun = 12;
constexpr std::uint32_t kSmallRun = 80;
const OneWayLengths kLarge = {kLargeRun, {200, {124, 200}}};
const OneWayLengths kSmall = {kSmallRun, {8, {4, 8}}};
const OneWayLengths kMixed = {kLargeRun, {200, {4, 8, 124}}};

const std::vector<TestPlan>& shapes() {
  static const std::vector<TestPlan> plans = [] {
    std::vector<TestPlan> all;
    for (const std::uint32_t count : {1U, 2U, 3U, 5U, 9U}) all.push_back(make_flat(count));
    all.push_back(make_crews(5, 2));
    all.push_back(make_forest("tree_5_flags", {{5}, 2, HIERBAR_RELEASE_FLAGS}));
    all.push_back(make_forest("domains_3x2_round_lines",
                              {{2, 2, 2}, 2, HIERBAR_RELEASE_LINES, Numbering::kRound}));
    return all;
  }();
  return plans;
}

class OneWayOnSimulatedMemory : public testing::TestWithParam<std::tuple<std::size_t, Fencing>> {};

TEST_P(OneWayOnSimulatedMemory, KeepsTheOracleUnderEverySchedule) {
  const TestPlan& plan = shapes()[std::get<0>(GetParam())];
  const Fencing fencing = std::get<1>(GetParam());
  for (const OneWayLengths& lengths : {kMixed, kLarge, kSmall}) {
    SimTrial<SimMem, OneWaySubject> trial(plan, {fencing, lengths});
    const Seeds seeds = chosen_seeds(lengths.most_operations == kSmallRun ? 200 : 1'000);
    for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
      const Outcome outcome = trial.run(seed);
      ASSERT_EQ(outcome.failure, Failure::kNone)
          << plan.name() << " fails: " << outcome.what << "\nagain: HIERBAR_TEST_SEED=" << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OneWayOnSimulatedMemory,
                         testing::Combine(testing::Range<std::size_t>(0, shapes().size()),
                                          testing::Values(Fencing::kByWriters,
                                                          Fencing::kBySleepers)),
                         [](const auto& instance) {
                           return shapes()[std::get<0>(instance.param)].name() +
                                  suffix_of(std::get<1>(instance.param));
                         });

template <class Mem>
void expect_caught(Failure failure, Fencing fencing, const OneWayLengths& lengths = kMixed) {
  for (const std::uint32_t count : {2U, 3U}) {
    const OneWaySubject subject{fencing, lengths};
    expect_only_broken_is_caught<Mem>(make_flat(count), failure, subject, subject);
  }
}
template <class Mem>
void expect_caught_with_both(Failure failure) {
  expect_caught<Mem>(failure, Fencing::kByWriters);
  expect_caught<Mem>(failure, Fencing::kBySleepers);
}

// Accesses to data take effect behind the next word that the participant stores.
template <bool kWrites>
struct DataBehindTheWord : SimMem {
  using SimMem::SimMem;
  std::byte* data_to_write(std::byte* data, std::size_t bytes) const noexcept {
    if constexpr (!kWrites) return SimMem::data_to_write(data, bytes);
    late_.push_back({data, bytes});
    return data;
  }
  const std::byte* data_to_read(const std::byte* data, std::size_t bytes) const noexcept {
    if constexpr (kWrites) return SimMem::data_to_read(data, bytes);
    late_.push_back({const_cast<std::byte*>(data), bytes});
    return data;
  }
  void store_release(Word& word, std::uint64_t value) const noexcept {
    SimMem::store_release(word, value);
    for (const auto& [data, bytes] : late_) {
      if constexpr (kWrites) {
        SimMem::data_to_write(data, bytes);
      } else {
        SimMem::data_to_read(data, bytes);
      }
    }
    late_.clear();
  }

 private:
  struct Access {
    std::byte* data;
    std::size_t bytes;
  };
  mutable std::vector<Access> late_;
};

TEST(BrokenOneWay, IsCaughtWhenTheWordComesBeforeTheData) {
  expect_caught_with_both<DataBehindTheWord</*kWrites=*/true>>(Failure::kDataRace);
}

TEST(BrokenOneWay, IsCaughtWhenAReaderIsDoneBeforeItReads) {
  for (const OneWayLengths& lengths : {kLarge, kSmall}) {
    expect_caught<DataBehindTheWord</*kWrites=*/false>>(Failure::kDataRace, Fencing::kByWriters,
                                                        lengths);
  }
}

// The last slot of the ring of large ones is the first one: a writer has one slot less than it
// believes.
struct OneSlotLess : SimMem {
  using SimMem::SimMem;
  using Ring = OneWay<SimMem>::Ring;
  static inline std::byte* first_ring = nullptr;
  static inline std::size_t ring_bytes = 0;

  static std::ptrdiff_t shift_of(const std::byte* data) {
    using Large = Ring::LargeSlot;
    const std::size_t at = static_cast<std::size_t>(data - first_ring) % ring_bytes;
    const std::size_t last = offsetof(Ring, large) + (Ring::kLargeSlots - 1) * sizeof(Large);
    return at < last ? 0 : -static_cast<std::ptrdiff_t>((Ring::kLargeSlots - 1) * sizeof(Large));
  }
  std::byte* data_to_write(std::byte* data, std::size_t bytes) const noexcept {
    return SimMem::data_to_write(data + shift_of(data), bytes);
  }
  const std::byte* data_to_read(const std::byte* data, std::size_t bytes) const noexcept {
    return SimMem::data_to_read(data + shift_of(data), bytes);
  }
};

struct FindsItsRings : OneWaySubject {
  template <class Mem, class Set>
  void start(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) const {
    OneWaySubject::start<Mem>(plan, memory, start, set);
    const OneWay<Mem> one_way(plan, memory, fencing);
    OneSlotLess::first_ring = reinterpret_cast<std::byte*>(&one_way.ring(0));
    OneSlotLess::ring_bytes = OneWay<Mem>::parts_of(plan, 0)[1].bytes;
  }
};

TEST(BrokenOneWay, IsCaughtWhenARingHasOneSlotLess) {
  const FindsItsRings subject{{Fencing::kByWriters, kLarge}};
  expect_only_broken_is_caught<OneSlotLess>(make_flat(2), Failure::kDataRace, subject, subject);
}

TEST(BrokenOneWay, IsCaughtWhenAWordIsRelaxed) {
  expect_caught_with_both<RelaxedRelease>(Failure::kDataRace);
  expect_caught_with_both<RelaxedLook>(Failure::kDataRace);
}

struct WakesNobody : SimMem {
  using SimMem::SimMem;
  void wake(std::uint32_t) const noexcept {}
};

TEST(BrokenOneWay, IsCaughtWhenASleeperIsMissed) {
  expect_caught_with_both<WakesNobody>(Failure::kDeadlock);
  expect_caught<WithoutFence>(Failure::kDeadlock, Fencing::kByWriters);
  expect_caught<WithoutLightFence>(Failure::kDeadlock, Fencing::kBySleepers);
  expect_caught<WithoutHeavyFence>(Failure::kDeadlock, Fencing::kBySleepers);
  expect_caught_with_both<BlindToRelease>(Failure::kDeadlock);
}

}  // namespace
}  // namespace hierbar::test

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Would the oracle on simulated memory notice a collective that is wrong? As in broken_test.cpp,
// each test breaks one thing, and expects a report, and none for the sound one.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "tests/barrier/broken_trial.hpp"
#include "tests/barrier/collective_subject.hpp"

namespace hierbar::test {
namespace {

// Packets for two, or together. Together. Also split, for two and for more.
const CallSizes kFew = {16, {4, 8}};
const CallSizes kMedium = {600, {120, 200}};
const CallSizes kMany = {1800, {4, 8, 12}};

template <class Mem>
void expect_caught(const TestPlan& plan, Failure failure, Fencing fencing = Fencing::kByWriters) {
  for (const CallSizes& sizes : {kFew, kMedium, kMany}) {
    const CollectiveSubject subject{fencing, sizes};
    expect_only_broken_is_caught<Mem>(plan, failure, subject, subject);
  }
}

template <class Mem>
void expect_caught_with_both(const TestPlan& plan, Failure failure) {
  expect_caught<Mem>(plan, failure, Fencing::kByWriters);
  expect_caught<Mem>(plan, failure, Fencing::kBySleepers);
}

TestPlan pair() { return make_flat(2); }
TestPlan flat() { return make_flat(4); }
TestPlan with_crews() { return make_crews(5, 2); }
TestPlan flags() { return make_forest("flags", {{3, 2}, 1, HIERBAR_RELEASE_FLAGS}); }
TestPlan lines() { return make_forest("lines", {{3, 2}, 2, HIERBAR_RELEASE_LINES}); }

// 1. Data and words.

// The word is published first, then the data.
struct WordBeforeData : SimMem {
  using SimMem::SimMem;
  std::byte* data_to_write(std::byte* data, std::size_t bytes) const noexcept {
    late_ = data;
    late_bytes_ = bytes;
    return data;
  }
  void store_release(Word& word, std::uint64_t value) const noexcept {
    SimMem::store_release(word, value);
    write_late();
  }
  void publish(Word& word, std::uint64_t value) const noexcept { store_release(word, value); }
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    const std::uint64_t before = SimMem::exchange(word, value);
    write_late();
    return before;
  }
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    const std::uint64_t before = SimMem::fetch_add(word, value);
    write_late();
    return before;
  }

 private:
  void write_late() const noexcept {
    if (late_ != nullptr) SimMem::data_to_write(late_, late_bytes_);
    late_ = nullptr;
  }
  mutable std::byte* late_ = nullptr;
  mutable std::size_t late_bytes_ = 0;
};

TEST(BrokenCollective, IsCaughtWhenTheWordComesBeforeTheData) {
  for (const TestPlan& plan : {pair(), flat(), flags(), lines()})
    expect_caught_with_both<WordBeforeData>(plan, Failure::kDataRace);
  expect_caught<WordBeforeData>(with_crews(), Failure::kDataRace);
}

// A participant has one region in place of two.
struct OneRegion : SimMem {
  using SimMem::SimMem;
  using Layout = CollectiveMemory<SimWord>;
  static inline std::byte* first_slot = nullptr;
  static inline bool has_packets = false;

  static std::size_t offset_of(const std::byte* data) {
    constexpr std::size_t kPacketsBytes = Layout::kNumPackets * sizeof(Packet<SimWord>);
    const auto offset = static_cast<std::size_t>(data - first_slot);
    const std::size_t in_slot = offset % Layout::kSlotBytes;
    if (in_slot / Layout::kRegionBytes == 1) return offset - Layout::kRegionBytes;
    const bool is_odd_packet = has_packets && in_slot >= 2 * Layout::kRegionBytes + kPacketsBytes;
    return is_odd_packet ? offset - kPacketsBytes : offset;
  }
  const std::byte* data_to_read(const std::byte* data, std::size_t bytes) const noexcept {
    return SimMem::data_to_read(first_slot + offset_of(data), bytes);
  }
  std::byte* data_to_write(std::byte* data, std::size_t bytes) const noexcept {
    return SimMem::data_to_write(first_slot + offset_of(data), bytes);
  }
};

struct FindsItsSlots : CollectiveSubject {
  template <class Mem, class Set>
  void start(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) const {
    CollectiveSubject::start<Mem>(plan, memory, start, set);
    OneRegion::first_slot = CollectiveMemory<SimWord>(plan, memory).region(0, 0) -
                            plan.nodes[0].slot * CollectiveMemory<SimWord>::kSlotBytes;
    OneRegion::has_packets = plan.num_participants == 2;
  }
};

// A region in place of two.
TEST(BrokenCollective, IsCaughtWhenThereIsOnlyOneRegion) {
  for (const Fencing fencing : {Fencing::kByWriters, Fencing::kBySleepers}) {
    for (const TestPlan& plan : {pair(), flat(), flags(), lines()}) {
      for (const CallSizes& sizes : {kFew, kMedium, kMany}) {
        const FindsItsSlots subject{{fencing, sizes}};
        expect_only_broken_is_caught<OneRegion>(plan, Failure::kDataRace, subject, subject);
      }
    }
  }
}

// Not broken: with crews a participant writes its region after the release of the episode before,
// and the last one of that has read it by then. Only in an alltoall all read behind the release.
TEST(CollectiveOfCrews, NeedsOneRegionOnlyWithoutAlltoalls) {
  const FindsItsSlots all{{Fencing::kByWriters, kMedium}};
  expect_only_broken_is_caught<OneRegion>(with_crews(), Failure::kDataRace, all, all);
  const Findings findings =
      play_schedules<OneRegion>(with_crews(), FindsItsSlots{{Fencing::kByWriters, kMedium, 2}});
  EXPECT_EQ(findings.of(Failure::kNone), kNumBrokenSchedules) << findings.example;
}

// The result of a parent, or of crews, is a region: it is overwritten while others read it.
struct ResultIsARegion : OneRegion {
  using OneRegion::OneRegion;
  using Layout = CollectiveMemory<SimWord>;
  static const std::byte* moved(const std::byte* data) {
    const std::size_t in_slot = static_cast<std::size_t>(data - first_slot) % Layout::kSlotBytes;
    return in_slot < 2 * Layout::kRegionBytes ? data : data - 2 * Layout::kRegionBytes;
  }
  const std::byte* data_to_read(const std::byte* data, std::size_t bytes) const noexcept {
    return SimMem::data_to_read(moved(data), bytes);
  }
  std::byte* data_to_write(std::byte* data, std::size_t bytes) const noexcept {
    return SimMem::data_to_write(data + (moved(data) - data), bytes);
  }
};

TEST(BrokenCollective, IsCaughtWhenTheResultIsInARegion) {
  for (const TestPlan& plan : {with_crews(), flags(), lines()}) {
    const FindsItsSlots subject{{Fencing::kByWriters, kFew}};
    expect_only_broken_is_caught<ResultIsARegion>(plan, Failure::kDataRace, subject, subject);
  }
}

// 2. Orders that are made relaxed.

TEST(BrokenCollective, IsCaughtWhenAnArrivalIsRelaxed) {
  for (const TestPlan& plan : {pair(), flat(), flags()})
    expect_caught<RelaxedArrival>(plan, Failure::kDataRace);
  expect_caught<RelaxedCount>(with_crews(), Failure::kDataRace);
}

TEST(BrokenCollective, IsCaughtWhenAStoreIsRelaxed) {
  for (const TestPlan& plan : {pair(), flat()})
    expect_caught<RelaxedRelease>(plan, Failure::kDataRace, Fencing::kBySleepers);
  for (const TestPlan& plan : {flags(), lines()})
    expect_caught_with_both<RelaxedRelease>(plan, Failure::kDataRace);
  expect_caught<RelaxedRelease>(with_crews(), Failure::kDataRace);
}

TEST(BrokenCollective, IsCaughtWhenAWaiterDoesNotAcquire) {
  for (const TestPlan& plan : {pair(), flat(), flags(), lines()})
    expect_caught_with_both<RelaxedLook>(plan, Failure::kDataRace);
  expect_caught<RelaxedLook>(with_crews(), Failure::kDataRace);
}

// 3. Sleepers.

struct NobodyIsWoken : SimMem {
  using SimMem::SimMem;
  void wake(std::uint32_t) const noexcept {}
};

TEST(BrokenCollective, IsCaughtWhenNobodyWakesASleeper) {
  for (const TestPlan& plan : {pair(), flat(), flags(), lines()})
    expect_caught_with_both<NobodyIsWoken>(plan, Failure::kDeadlock);
  expect_caught<NobodyIsWoken>(with_crews(), Failure::kDeadlock);
}

TEST(BrokenCollective, IsCaughtWhenTheFenceBeforeTheLookAtSleepersIsMissing) {
  for (const TestPlan& plan : {flags(), lines(), with_crews()})
    expect_caught<WithoutFence>(plan, Failure::kDeadlock);
  for (const TestPlan& plan : {pair(), flat(), flags(), lines()})
    expect_caught<WithoutLightFence>(plan, Failure::kDeadlock, Fencing::kBySleepers);
}

TEST(BrokenCollective, IsCaughtWhenASleeperDoesNotFence) {
  for (const TestPlan& plan : {pair(), flat(), flags(), lines()})
    expect_caught<WithoutHeavyFence>(plan, Failure::kDeadlock, Fencing::kBySleepers);
}

TEST(BrokenCollective, IsCaughtWhenASleeperDoesNotLookAgain) {
  for (const TestPlan& plan : {pair(), flat(), flags(), lines()})
    expect_caught<BlindToRelease>(plan, Failure::kDeadlock, Fencing::kBySleepers);
  expect_caught<BlindToRelease>(with_crews(), Failure::kDeadlock);
}

}  // namespace
}  // namespace hierbar::test

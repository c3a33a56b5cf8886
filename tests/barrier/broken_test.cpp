// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Would the oracle on simulated memory notice? Each test breaks one thing on which the barrier
// relies. It expects a report, and none for the sound barrier under the same schedules.

#include <gtest/gtest.h>

#include <cstdint>

#include "broken_mem.hpp"
#include "broken_trial.hpp"
#include "tests/barrier/engine_subject.hpp"

namespace hierbar::test {
namespace {

// A participant's words by their numbers; see EngineSubject.
constexpr std::uint32_t kNumArrivalWords = 4;
constexpr std::uint32_t kSleepersWord = 12;
constexpr std::uint32_t kWaitingForWord = 14;
constexpr std::uint32_t kWordsPerParticipant = kEngineWords;

// Uses the same word for arrivals in even and in odd episodes, although a peer may be one episode
// ahead (docs/design/engine.md#d0005).
struct OneArrivalWord : EngineSubject {
  template <class Mem, class Set>
  void start(const hierbar_plan& plan, void* memory, Epoch start, Set&& set) const {
    EngineSubject::start<Mem>(plan, memory, start, set);
    const BarrierMemory<SimWord> lines(memory, plan.line_bytes);
    const auto parity = start >> kEpochShift & 1;  // the word that is up to date
    for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
      for (auto& lane : lines.edge(plan.nodes[p].slot).arrived) lane[1 - parity] = lane[parity];
    }
  }
};

template <class Mem, class Subject = EngineSubject>
void expect_caught(const TestPlan& plan, Failure failure) {
  expect_only_broken_is_caught<Mem>(plan, failure, Subject{}, EngineSubject{});
}

// The same where sleepers fence.
template <class Mem>
void expect_caught_where_sleepers_fence(const TestPlan& plan, Failure failure) {
  const EngineSubject subject{Fencing::kBySleepers};
  expect_only_broken_is_caught<Mem>(plan, failure, subject, subject);
}

TestPlan flat() { return make_flat(4); }
TestPlan with_crews() { return make_crews(5, 2); }
TestPlan forest(hierbar_release_kind release) { return make_forest("forest", {{4, 3}, 2, release}); }

// 1. Orders that are made relaxed.

TEST(BrokenBarrier, IsCaughtWhenTheArrivalIsRelaxed) {
  expect_caught<RelaxedArrival>(flat(), Failure::kDataRace);
  expect_caught<RelaxedArrival>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDataRace);
}

TEST(BrokenBarrier, IsCaughtWhenTheCountIsRelaxed) { expect_caught<RelaxedCount>(with_crews(), Failure::kDataRace); }

TEST(BrokenBarrier, IsCaughtWhenTheReleaseIsRelaxed) {
  expect_caught<RelaxedRelease>(with_crews(), Failure::kDataRace);
  expect_caught<RelaxedRelease>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDataRace);
  expect_caught<RelaxedRelease>(forest(HIERBAR_RELEASE_LINES), Failure::kDataRace);
  expect_caught<RelaxedRelease>(flat(), Failure::kDataRace);  // split phases
}

TEST(BrokenBarrier, IsCaughtWhenTheWaiterDoesNotAcquire) {
  expect_caught<RelaxedLook>(flat(), Failure::kDataRace);
  expect_caught<RelaxedLook>(forest(HIERBAR_RELEASE_LINES), Failure::kDataRace);
}

// 2. Sleeping: each side stores, then reads what the other side stores. One of the two is left out.

struct SleeperDoesNotSayForWhom : SimMem {
  using SimMem::SimMem;
  void store_relaxed(Word& word, std::uint64_t value) const noexcept {
    if (word.index % kWordsPerParticipant != kWaitingForWord) SimMem::store_relaxed(word, value);
  }
};

TEST(BrokenBarrier, IsCaughtWhenTheFenceBeforeTheLookAtSleepersIsMissing) {
  expect_caught<WithoutFence>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDeadlock);
  expect_caught<WithoutFence>(forest(HIERBAR_RELEASE_LINES), Failure::kDeadlock);
  expect_caught<WithoutFence>(flat(), Failure::kDeadlock);  // split phases
  expect_caught<WithoutFence>(with_crews(), Failure::kDeadlock);
}

TEST(BrokenBarrier, IsCaughtWhenASleeperDoesNotLookAgain) {
  expect_caught<BlindToArrival>(flat(), Failure::kDeadlock);
  expect_caught<BlindToArrival>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDeadlock);
  expect_caught<BlindToRelease>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDeadlock);
  expect_caught<BlindToRelease>(forest(HIERBAR_RELEASE_LINES), Failure::kDeadlock);
  expect_caught<BlindToRelease>(with_crews(), Failure::kDeadlock);
}

TEST(BrokenBarrier, IsCaughtWhenTheSleepBitIsNotSetInOneStep) {
  expect_caught<SleepBitSetInTwoSteps>(flat(), Failure::kDeadlock);
}

TEST(BrokenBarrier, IsCaughtWhenTheSleepBitIsLost) {
  expect_caught<SleepBitLost>(flat(), Failure::kDeadlock);
  expect_caught<SleepBitLost>(forest(HIERBAR_RELEASE_LINES), Failure::kDeadlock);
}

TEST(BrokenBarrier, IsCaughtWhenASleeperDoesNotSayForWhom) {
  expect_caught<SleeperDoesNotSayForWhom>(flat(), Failure::kDeadlock);
  expect_caught<SleeperDoesNotSayForWhom>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDeadlock);
}

// 3. Sleeping, where sleepers fence.

TEST(BrokenBarrier, IsCaughtWhenASleeperDoesNotFence) {
  for (const TestPlan& plan : {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)}) {
    expect_caught_where_sleepers_fence<WithoutHeavyFence>(plan, Failure::kDeadlock);
    expect_caught_where_sleepers_fence<HeavyFenceOfOneThread>(plan, Failure::kDeadlock);
    expect_caught_where_sleepers_fence<LooksBeforeTheHeavyFence>(plan, Failure::kDeadlock);
    expect_caught_where_sleepers_fence<HeavyFenceForTheFirstOnly>(plan, Failure::kDeadlock);
  }
}

TEST(BrokenBarrier, IsCaughtWhenTheCompilerMovesTheLookAtSleepers) {
  for (const TestPlan& plan : {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)})
    expect_caught_where_sleepers_fence<WithoutLightFence>(plan, Failure::kDeadlock);
}

TEST(BrokenBarrier, IsCaughtWhenASleeperThatFencesDoesNotLookAgain) {
  for (const TestPlan& plan : {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)})
    expect_caught_where_sleepers_fence<BlindToRelease>(plan, Failure::kDeadlock);
}

TEST(BrokenBarrier, IsCaughtWhenAStoredArrivalIsRelaxed) {
  for (const TestPlan& plan : {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS)})
    expect_caught_where_sleepers_fence<RelaxedRelease>(plan, Failure::kDataRace);
}

// A sleeper that does not count itself: nobody looks for it.
struct SleeperIsNotCounted : SimMem {
  using SimMem::SimMem;
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return word.index % kWordsPerParticipant == kSleepersWord ? 0 : SimMem::fetch_add(word, value);
  }
};

TEST(BrokenBarrier, IsCaughtWhenASleeperForAnArrivalIsNotCounted) {
  for (const TestPlan& plan : {make_flat(2), flat(), forest(HIERBAR_RELEASE_LINES)})
    expect_caught_where_sleepers_fence<SleeperIsNotCounted>(plan, Failure::kDeadlock);
}

TEST(BrokenBarrier, IsCaughtWhenASleeperThatFencesDoesNotSayForWhom) {
  for (const TestPlan& plan : {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS)})
    expect_caught_where_sleepers_fence<SleeperDoesNotSayForWhom>(plan, Failure::kDeadlock);
}

// Not broken: nobody sleeps then.
TEST(BarrierWhoseFenceIsRefused, KeepsTheOracle) {
  for (const TestPlan& plan : {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)}) {
    const Findings findings = play_schedules<NoHeavyFence>(plan, EngineSubject{Fencing::kBySleepers});
    EXPECT_EQ(findings.of(Failure::kNone), kNumBrokenSchedules) << findings.example;
  }
}

// 4. One wait is left out: for one participant's arrival or release.

template <std::uint32_t kParticipant, bool kArrivals>
struct Impatient : SimMem {
  using SimMem::SimMem;
  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    const std::uint32_t owner = pending.awaited().index / kWordsPerParticipant;
    const bool is_arrival = pending.awaited().index % kWordsPerParticipant < kNumArrivalWords;
    if (owner == kParticipant && is_arrival == kArrivals) return WaitResult::kReleased;
    return SimMem::wait(pending);
  }
};

TEST(BrokenBarrier, IsCaughtWhenAnArrivalIsNotWaitedFor) {
  expect_caught<Impatient<3, true>>(flat(), Failure::kDataRace);
  expect_caught<Impatient<3, true>>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDataRace);
  expect_caught<Impatient<3, true>>(forest(HIERBAR_RELEASE_FLAGS), Failure::kWrongValue);
}

TEST(BrokenBarrier, IsCaughtWhenAReleaseIsNotWaitedFor) {
  expect_caught<Impatient<5, false>>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDataRace);
  expect_caught<Impatient<4, false>>(forest(HIERBAR_RELEASE_LINES), Failure::kDataRace);
}

// 5. One episode ahead: a peer's next arrival must not replace bits that somebody has yet to read.

TEST(BrokenBarrier, IsCaughtWhenThereIsOnlyOneArrivalWord) {
  expect_caught<SimMem, OneArrivalWord>(flat(), Failure::kWrongValue);
  expect_caught<SimMem, OneArrivalWord>(make_forest("leaders", {{2, 2}, 2, HIERBAR_RELEASE_FLAGS}), Failure::kWrongValue);
}

}  // namespace
}  // namespace hierbar::test

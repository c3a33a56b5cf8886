// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Would the oracle on simulated memory notice? Each test breaks one thing on which the barrier
// relies. It expects a report, and none for the sound barrier under the same schedules. The same
// for every baseline that relies on the thing.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "tests/barrier/baseline_subject.hpp"
#include "tests/barrier/broken_trial.hpp"
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
TestPlan forest(hierbar_release_kind release) {
  return make_forest("forest", {{4, 3}, 2, release});
}

// 1. Orders that are made relaxed.

TEST(BrokenBarrier, IsCaughtWhenTheArrivalIsRelaxed) {
  expect_caught<RelaxedArrival>(flat(), Failure::kDataRace);
  expect_caught<RelaxedArrival>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDataRace);
}

TEST(BrokenBarrier, IsCaughtWhenTheCountIsRelaxed) {
  expect_caught<RelaxedCount>(with_crews(), Failure::kDataRace);
}

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
  for (const TestPlan& plan :
       {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)}) {
    expect_caught_where_sleepers_fence<WithoutHeavyFence>(plan, Failure::kDeadlock);
    expect_caught_where_sleepers_fence<HeavyFenceOfOneThread>(plan, Failure::kDeadlock);
    expect_caught_where_sleepers_fence<LooksBeforeTheHeavyFence>(plan, Failure::kDeadlock);
    expect_caught_where_sleepers_fence<HeavyFenceForTheFirstOnly>(plan, Failure::kDeadlock);
  }
}

TEST(BrokenBarrier, IsCaughtWhenTheCompilerMovesTheLookAtSleepers) {
  for (const TestPlan& plan :
       {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)})
    expect_caught_where_sleepers_fence<WithoutLightFence>(plan, Failure::kDeadlock);
}

// A sleeper that stays announced, and the one that wakes it.
TEST(BrokenBarrier, IsCaughtWhenNobodyFencesBetweenTwoSleeps) {
  for (const TestPlan& plan :
       {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)})
    expect_caught_where_sleepers_fence<WithoutFence>(plan, Failure::kDeadlock);
}

TEST(BrokenBarrier, IsCaughtWhenASleeperThatFencesDoesNotLookAgain) {
  for (const TestPlan& plan :
       {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)})
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
  for (const TestPlan& plan :
       {make_flat(2), flat(), forest(HIERBAR_RELEASE_FLAGS), forest(HIERBAR_RELEASE_LINES)}) {
    const Findings findings =
        play_schedules<NoHeavyFence>(plan, EngineSubject{Fencing::kBySleepers});
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
  expect_caught<SimMem, OneArrivalWord>(make_forest("leaders", {{2, 2}, 2, HIERBAR_RELEASE_FLAGS}),
                                        Failure::kWrongValue);
}

// Which kinds of message of blocks.hpp a baseline uses.
struct Uses {
  Algorithm algorithm;
  bool signals;
  bool releases;
  bool counters;
  bool one_flag_for_all;  // its releases
};

constexpr Uses kBaselines[] = {
    {Algorithm::kTopo, true, true, false, true},
    {Algorithm::kSenseReversing, false, true, true, true},
    {Algorithm::kSenseReversingCounter, true, true, false, true},
    {Algorithm::kSenseReversingGr, true, true, false, false},
    {Algorithm::kCombiningTree, false, true, true, false},
    {Algorithm::kMcs, true, true, false, false},
    {Algorithm::kTournamentTree, true, true, false, false},
    {Algorithm::kTournamentFlag, true, true, false, true},
    {Algorithm::kDissemination, true, false, false, false},
};
static_assert(std::size(kBaselines) + 1 == std::size(kAlgorithms), "a baseline without a row");

// Five participants. For `topo`: a group of three, one of two, and their leaders.
TestPlan plan_of(Algorithm algorithm) {
  return algorithm == Algorithm::kTopo
             ? make_forest("groups_3_2", {{3, 2}, 2, HIERBAR_RELEASE_FLAGS})
             : make_flat(5);
}

template <class Mem>
void expect_caught(Algorithm algorithm, Failure failure) {
  SCOPED_TRACE(std::string(algorithm_name(algorithm)));
  const BaselineSubject subject{algorithm};
  expect_only_broken_is_caught<Mem>(plan_of(algorithm), failure, subject, subject);
}

template <class Mem>
void expect_all_caught(bool Uses::* what, Failure failure) {
  for (const Uses& baseline : kBaselines) {
    if (baseline.*what) expect_caught<Mem>(baseline.algorithm, failure);
  }
}

// 1. Orders that are made relaxed.

TEST(BrokenBaseline, IsCaughtWhenASignalIsRelaxed) {
  expect_all_caught<RelaxedArrival>(&Uses::signals, Failure::kDataRace);
}

TEST(BrokenBaseline, IsCaughtWhenACountIsRelaxed) {
  expect_all_caught<RelaxedCount>(&Uses::counters, Failure::kDataRace);
}

TEST(BrokenBaseline, IsCaughtWhenAReleaseIsRelaxed) {
  expect_all_caught<RelaxedRelease>(&Uses::releases, Failure::kDataRace);
}

TEST(BrokenBaseline, IsCaughtWhenAWaiterDoesNotAcquire) {
  for (const Uses& baseline : kBaselines)
    expect_caught<RelaxedLook>(baseline.algorithm, Failure::kDataRace);
}

// 2. Sleeping: each side stores, then reads what the other side stores. One of the two is left out.

// Nobody can find out for whom a sleeper waits.
struct BaselineSleeperDoesNotSayForWhom : SimMem {
  using SimMem::SimMem;
  static constexpr std::uint32_t kWordsPerParticipant = 13;  // of a baseline with up to two flags
  static constexpr std::uint32_t kWaitingForWord = 1;
  void store_relaxed(Word& word, std::uint64_t value) const noexcept {
    if (word.index % kWordsPerParticipant != kWaitingForWord) SimMem::store_relaxed(word, value);
  }
};

TEST(BrokenBaseline, IsCaughtWhenTheFenceBeforeTheLookAtSleepersIsMissing) {
  expect_all_caught<WithoutFence>(&Uses::releases, Failure::kDeadlock);
}

TEST(BrokenBaseline, IsCaughtWhenASleeperDoesNotLookAgain) {
  expect_all_caught<BlindToArrival>(&Uses::signals, Failure::kDeadlock);
  expect_all_caught<BlindToRelease>(&Uses::releases, Failure::kDeadlock);
}

TEST(BrokenBaseline, IsCaughtWhenTheSleepBitIsLost) {
  expect_all_caught<SleepBitLost>(&Uses::signals, Failure::kDeadlock);
}

TEST(BrokenBaseline, IsCaughtWhenASleeperDoesNotSayForWhom) {
  for (const Uses& baseline : kBaselines) {
    // The tournament with a flag has more flags than that.
    if (!baseline.one_flag_for_all || baseline.algorithm == Algorithm::kTournamentFlag) continue;
    expect_caught<BaselineSleeperDoesNotSayForWhom>(baseline.algorithm, Failure::kDeadlock);
  }
}

// 3. One wait for a flag is left out.

constexpr std::uint32_t kAnybody = std::numeric_limits<std::uint32_t>::max();

// Participant `me` does not wait for flag `flag` in the block of participant `owner`. flags: how
// many flags a block has.
struct Impatience {
  std::uint32_t me, owner, flag, flags = 2;
};

struct ImpatientBaseline : SimMem {
  using SimMem::SimMem;
  static inline Impatience impatience;
  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    constexpr std::uint32_t kWordsBeforeFlags = 3;
    constexpr std::uint32_t kWordsOfFlag = 5;
    const auto [me, owner, flag, flags] = impatience;
    const std::uint32_t first = owner * (kWordsBeforeFlags + flags * kWordsOfFlag) +
                                kWordsBeforeFlags + flag * kWordsOfFlag;
    const std::uint32_t word = pending.awaited().index;
    if ((me == me_ || me == kAnybody) && word >= first && word < first + kWordsOfFlag)
      return WaitResult::kReleased;
    return SimMem::wait(pending);
  }
};

void expect_impatience_caught(Algorithm algorithm, Impatience impatience) {
  ImpatientBaseline::impatience = impatience;
  expect_caught<ImpatientBaseline>(algorithm, Failure::kDataRace);
}

TEST(BrokenBaseline, IsCaughtWhenASignalIsNotWaitedFor) {
  expect_impatience_caught(Algorithm::kTopo, {0, 3, 0});  // the other member of TOP
  expect_impatience_caught(Algorithm::kTopo, {3, 4, 0});  // a member of the group below
  expect_impatience_caught(Algorithm::kSenseReversingCounter, {0, 3, 0});
  expect_impatience_caught(Algorithm::kSenseReversingGr, {0, 3, 0});
  expect_impatience_caught(Algorithm::kMcs, {0, 0, 0});
  expect_impatience_caught(Algorithm::kTournamentTree, {0, 0, 3, 6});  // the last round
  expect_impatience_caught(Algorithm::kTournamentFlag, {2, 2, 1, 6});  // the first round
  expect_impatience_caught(Algorithm::kDissemination, {2, 2, 1, 6});   // the second round
}

TEST(BrokenBaseline, IsCaughtWhenAReleaseIsNotWaitedFor) {
  expect_impatience_caught(Algorithm::kTopo, {4, 0, 1});
  expect_impatience_caught(Algorithm::kSenseReversing, {2, 0, 0});
  expect_impatience_caught(Algorithm::kSenseReversingCounter, {3, 0, 1});
  expect_impatience_caught(Algorithm::kSenseReversingGr, {3, 3, 1});
  expect_impatience_caught(Algorithm::kCombiningTree, {kAnybody, 2, 0});  // the node above four
  expect_impatience_caught(Algorithm::kMcs, {3, 3, 1});
  expect_impatience_caught(Algorithm::kTournamentTree, {2, 2, 0, 6});
  expect_impatience_caught(Algorithm::kTournamentFlag, {2, 0, 0, 6});
}

// 4. The central counter is not cleared for the next episode.

struct CounterIsNotCleared : SimMem {
  using SimMem::SimMem;
  void store_relaxed(Word& word, std::uint64_t value) const noexcept {
    constexpr std::uint32_t kCounterOfParticipant0 = 2;
    if (word.index != kCounterOfParticipant0) SimMem::store_relaxed(word, value);
  }
};

TEST(BrokenBaseline, IsCaughtWhenTheCounterIsNotCleared) {
  expect_caught<CounterIsNotCleared>(Algorithm::kSenseReversing, Failure::kDataRace);
}

}  // namespace
}  // namespace hierbar::test

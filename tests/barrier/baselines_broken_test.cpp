// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Would the oracle on simulated memory notice? Each test breaks one thing, and every baseline that
// relies on it is caught.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "baseline_subject.hpp"
#include "broken_mem.hpp"
#include "broken_trial.hpp"

namespace hierbar::test {
namespace {

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
static_assert(std::size(kBaselines) + 1 == std::size(kAlgorithms));

// Five participants. For `topo`: a group of three, one of two, and their leaders.
TestPlan plan_of(Algorithm algorithm) {
  return algorithm == Algorithm::kTopo ? make_forest("groups_3_2", {{3, 2}, 2, HIERBAR_RELEASE_FLAGS}) : make_flat(5);
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

TEST(BrokenBaseline, IsCaughtWhenASignalIsRelaxed) { expect_all_caught<RelaxedArrival>(&Uses::signals, Failure::kDataRace); }

TEST(BrokenBaseline, IsCaughtWhenACountIsRelaxed) { expect_all_caught<RelaxedCount>(&Uses::counters, Failure::kDataRace); }

TEST(BrokenBaseline, IsCaughtWhenAReleaseIsRelaxed) { expect_all_caught<RelaxedRelease>(&Uses::releases, Failure::kDataRace); }

TEST(BrokenBaseline, IsCaughtWhenAWaiterDoesNotAcquire) {
  for (const Uses& baseline : kBaselines) expect_caught<RelaxedLook>(baseline.algorithm, Failure::kDataRace);
}

// 2. Sleeping: each side stores, then reads what the other side stores. One of the two is left out.

// Nobody can find out for whom a sleeper waits.
struct SleeperDoesNotSayForWhom : SimMem {
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

TEST(BrokenBaseline, IsCaughtWhenTheSleepBitIsLost) { expect_all_caught<SleepBitLost>(&Uses::signals, Failure::kDeadlock); }

TEST(BrokenBaseline, IsCaughtWhenASleeperDoesNotSayForWhom) {
  for (const Uses& baseline : kBaselines) {
    // The tournament with a flag has more flags than that.
    if (!baseline.one_flag_for_all || baseline.algorithm == Algorithm::kTournamentFlag) continue;
    expect_caught<SleeperDoesNotSayForWhom>(baseline.algorithm, Failure::kDeadlock);
  }
}

// 3. One wait for a flag is left out.

constexpr std::uint32_t kAnybody = std::numeric_limits<std::uint32_t>::max();

// Participant `me` does not wait for flag `flag` in the block of participant `owner`. flags: how
// many flags a block has.
struct Impatience {
  std::uint32_t me, owner, flag, flags = 2;
};

struct Impatient : SimMem {
  using SimMem::SimMem;
  static inline Impatience impatience;
  template <class AwaitedWord>
  WaitResult wait(AwaitedWord& pending) const noexcept {
    constexpr std::uint32_t kWordsBeforeFlags = 3;
    constexpr std::uint32_t kWordsOfFlag = 5;
    const auto [me, owner, flag, flags] = impatience;
    const std::uint32_t first = owner * (kWordsBeforeFlags + flags * kWordsOfFlag) + kWordsBeforeFlags + flag * kWordsOfFlag;
    const std::uint32_t word = pending.awaited().index;
    if ((me == me_ || me == kAnybody) && word >= first && word < first + kWordsOfFlag) return WaitResult::kReleased;
    return SimMem::wait(pending);
  }
};

void expect_impatience_caught(Algorithm algorithm, Impatience impatience) {
  Impatient::impatience = impatience;
  expect_caught<Impatient>(algorithm, Failure::kDataRace);
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

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The oracle on simulated memory would notice: each test breaks one thing that the barrier relies on and expects to be told, and
// expects nothing of the sound barrier under the same schedules.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "sim_trial.hpp"

namespace hierbar::test {
namespace {

constexpr std::uint64_t kNumSchedules = 1000;

struct Findings {
  std::map<Failure, int> counts;
  std::string example;

  int of(Failure failure) const {
    const auto found = counts.find(failure);
    return found == counts.end() ? 0 : found->second;
  }
};

template <class Mem>
Findings play(const TestPlan& plan, ArrivalWords words = ArrivalWords::kAlternating) {
  Findings findings;
  SimTrial<Mem> trial(plan, words);
  for (std::uint64_t seed = 1; seed <= kNumSchedules; ++seed) {
    const Outcome outcome = trial.run(seed);
    ++findings.counts[outcome.failure];
    if (outcome.failure != Failure::kNone && findings.example.empty()) {
      findings.example = plan.name() + ", seed " + std::to_string(seed) + ": " + outcome.what;
    }
  }
  return findings;
}

void expect_sound(const TestPlan& plan) {
  const Findings findings = play<SimMem>(plan);
  EXPECT_EQ(findings.of(Failure::kNone), kNumSchedules) << findings.example;
}

template <class Mem>
void expect_caught(const TestPlan& plan, Failure failure, ArrivalWords words = ArrivalWords::kAlternating) {
  const Findings findings = play<Mem>(plan, words);
  EXPECT_GT(findings.of(failure), 0) << plan.name() << ": no " << to_string(failure) << " in " << kNumSchedules
                                     << " schedules; first other finding: " << findings.example;
  expect_sound(plan);
}

TestPlan flat() { return make_flat(4); }
TestPlan forest(hierbar_release_kind release) { return make_forest("forest", {{4, 3}, 2, release}); }

// 1. Orders turned relaxed.

struct RelaxedArrival : SimMem {
  using SimMem::SimMem;
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kRelaxed, [value](std::uint64_t) { return value; });
  }
};

struct RelaxedRelease : SimMem {
  using SimMem::SimMem;
  void store_release(Word& word, std::uint64_t value) const noexcept { store_relaxed(word, value); }
};

struct RelaxedLook : SimMem {
  using SimMem::SimMem;
  std::uint64_t load_acquire(const Word& word) const noexcept { return load_relaxed(word); }
};

TEST(BrokenBarrier, IsCaughtWhenTheArrivalIsRelaxed) {
  expect_caught<RelaxedArrival>(flat(), Failure::kDataRace);
  expect_caught<RelaxedArrival>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDataRace);
}

TEST(BrokenBarrier, IsCaughtWhenTheReleaseIsRelaxed) {
  expect_caught<RelaxedRelease>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDataRace);
  expect_caught<RelaxedRelease>(forest(HIERBAR_RELEASE_LINES), Failure::kDataRace);
  expect_caught<RelaxedRelease>(flat(), Failure::kDataRace);  // split phases
}

TEST(BrokenBarrier, IsCaughtWhenTheWaiterDoesNotAcquire) {
  expect_caught<RelaxedLook>(flat(), Failure::kDataRace);
  expect_caught<RelaxedLook>(forest(HIERBAR_RELEASE_LINES), Failure::kDataRace);
}

// 2. Sleeping: store, then look at the other side; each of the two is left out.

struct WithoutFence : SimMem {
  using SimMem::SimMem;
  void fence() const noexcept {}
};

// announce() of an arrival says that it is not there, whatever the word says.
struct BlindToArrival : SimMem {
  using SimMem::SimMem;
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept { return SimMem::fetch_or(word, bits) - kLongAgo; }
  static constexpr std::uint64_t kLongAgo = 4 * kEpochOne;
};

// announce() of a release says that it is not there, whatever the word says.
struct BlindToRelease : SimMem {
  using SimMem::SimMem;
  std::uint64_t load_seq_cst(const Word& word) const noexcept { return SimMem::load_seq_cst(word) - BlindToArrival::kLongAgo; }
};

struct SleepBitSetInTwoSteps : SimMem {
  using SimMem::SimMem;
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept {
    const std::uint64_t before = load_seq_cst(word);
    store_release(word, before | bits);
    return before;
  }
};

struct SleepBitLost : SimMem {
  using SimMem::SimMem;
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept { return SimMem::exchange(word, value) & ~kSleepBit; }
};

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
}

TEST(BrokenBarrier, IsCaughtWhenASleeperDoesNotLookAgain) {
  expect_caught<BlindToArrival>(flat(), Failure::kDeadlock);
  expect_caught<BlindToArrival>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDeadlock);
  expect_caught<BlindToRelease>(forest(HIERBAR_RELEASE_FLAGS), Failure::kDeadlock);
  expect_caught<BlindToRelease>(forest(HIERBAR_RELEASE_LINES), Failure::kDeadlock);
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

// 3. A flag that is not waited for: one participant's, of either kind.

template <std::uint32_t kParticipant, bool kArrivals>
struct Impatient : SimMem {
  using SimMem::SimMem;
  template <class Pending>
  WaitResult wait(Pending& pending) const noexcept {
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

// 4. One ahead: a peer's arrival in the next episode must not replace the bits that somebody has yet to read.

TEST(BrokenBarrier, IsCaughtWhenThereIsOnlyOneArrivalWord) {
  expect_caught<SimMem>(flat(), Failure::kWrongValue, ArrivalWords::kOne);
  expect_caught<SimMem>(make_forest("leaders", {{2, 2}, 2, HIERBAR_RELEASE_FLAGS}), Failure::kWrongValue, ArrivalWords::kOne);
}

}  // namespace
}  // namespace hierbar::test

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "barrier/awaited_word.hpp"
#include "tests/barrier/simulated/sim_trial.hpp"

// Simulated memory without one thing on which barriers rely.

namespace hierbar::test {

// 1. Orders that are made relaxed.

struct RelaxedArrival : SimMem {
  using SimMem::SimMem;
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kRelaxed, [value](std::uint64_t) { return value; });
  }
};

struct RelaxedCount : SimMem {
  using SimMem::SimMem;
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return machine_.rmw(me_, word.index, Order::kRelaxed,
                        [value](std::uint64_t before) { return before + value; });
  }
};

struct RelaxedRelease : SimMem {
  using SimMem::SimMem;
  void store_release(Word& word, std::uint64_t value) const noexcept { store_relaxed(word, value); }
  void publish(Word& word, std::uint64_t value) const noexcept { store_release(word, value); }
};

struct RelaxedLook : SimMem {
  using SimMem::SimMem;
  std::uint64_t load_acquire(const Word& word) const noexcept { return load_relaxed(word); }
};

// 2. Sleeping: each side stores, then reads what the other side stores. One of the two is left out.

struct WithoutFence : SimMem {
  using SimMem::SimMem;
  void fence() const noexcept {}
};

struct WithoutLightFence : SimMem {
  using SimMem::SimMem;
  void light_fence() const noexcept {}
};

struct WithoutHeavyFence : SimMem {
  using SimMem::SimMem;
  bool heavy_fence() const noexcept { return true; }
};

// The sleeper itself fences, and nobody else.
struct HeavyFenceOfOneThread : SimMem {
  using SimMem::SimMem;
  bool heavy_fence() const noexcept {
    fence();
    return true;
  }
};

// The sleeper looks at the word before the fence, and believes what it saw.
struct LooksBeforeTheHeavyFence : SimMem {
  using SimMem::SimMem;
  bool heavy_fence() const noexcept { return true; }
  std::uint64_t load_seq_cst(const Word& word) const noexcept {
    const std::uint64_t seen = SimMem::load_seq_cst(word);
    SimMem::heavy_fence();
    return seen;
  }
};

// Only one of two who announce themselves at the same time has a fence of its own, and the other
// does not ask whether it began early enough.
struct HeavyFenceForTheFirstOnly : SimMem {
  using SimMem::SimMem;
  bool heavy_fence() const noexcept { return me_ % 2 != 0 || SimMem::heavy_fence(); }
};

// The fence is refused. Time passes: who polls in place of a sleep would otherwise poll for ever,
// because the schedule may keep a store back until nobody can go on without it.
struct NoHeavyFence : SimMem {
  using SimMem::SimMem;
  bool heavy_fence() const noexcept {
    SimMem::heavy_fence();
    return false;
  }
};

// announce() of an arrival returns that the word is not ready, whatever its value.
struct BlindToArrival : SimMem {
  using SimMem::SimMem;
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept {
    return SimMem::fetch_or(word, bits) - kLongAgo;
  }
  static constexpr std::uint64_t kLongAgo = 4 * kEpochOne;
};

// announce() of a release returns that the word is not ready, whatever its value.
struct BlindToRelease : SimMem {
  using SimMem::SimMem;
  std::uint64_t load_seq_cst(const Word& word) const noexcept {
    return SimMem::load_seq_cst(word) - BlindToArrival::kLongAgo;
  }
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
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return SimMem::exchange(word, value) & ~kSleepBit;
  }
};

// What the oracle on simulated memory reported under many schedules.
struct Findings {
  std::map<Failure, std::uint64_t> counts;
  std::string example;

  std::uint64_t of(Failure failure) const {
    const auto found = counts.find(failure);
    return found == counts.end() ? 0 : found->second;
  }
};

inline constexpr std::uint64_t kNumBrokenSchedules = 1000;

template <class Mem, class Subject>
Findings play_schedules(const TestPlan& plan, const Subject& subject) {
  Findings findings;
  SimTrial<Mem, Subject> trial(plan, subject);
  for (std::uint64_t seed = 1; seed <= kNumBrokenSchedules; ++seed) {
    const Outcome outcome = trial.run(seed);
    ++findings.counts[outcome.failure];
    if (outcome.failure != Failure::kNone && findings.example.empty()) {
      findings.example = plan.name() + ", seed " + std::to_string(seed) + ": " + outcome.what;
    }
  }
  return findings;
}

// Expects the oracle to report `failure` for the broken barrier, and nothing for the sound one
// under the same schedules.
template <class BrokenMem, class BrokenSubject, class SoundSubject>
void expect_only_broken_is_caught(const TestPlan& plan, Failure failure,
                                  const BrokenSubject& broken, const SoundSubject& sound) {
  const Findings findings = play_schedules<BrokenMem>(plan, broken);
  EXPECT_GT(findings.of(failure), 0U)
      << plan.name() << ": no " << to_string(failure) << " in " << kNumBrokenSchedules
      << " schedules; first other finding: " << findings.example;
  const Findings of_sound = play_schedules<SimMem>(plan, sound);
  EXPECT_EQ(of_sound.of(Failure::kNone), kNumBrokenSchedules) << of_sound.example;
}

}  // namespace hierbar::test

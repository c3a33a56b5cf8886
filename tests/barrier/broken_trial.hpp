// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "tests/barrier/simulated/sim_trial.hpp"

namespace hierbar::test {

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
void expect_only_broken_is_caught(const TestPlan& plan, Failure failure, const BrokenSubject& broken, const SoundSubject& sound) {
  const Findings findings = play_schedules<BrokenMem>(plan, broken);
  EXPECT_GT(findings.of(failure), 0U) << plan.name() << ": no " << to_string(failure) << " in " << kNumBrokenSchedules
                                      << " schedules; first other finding: " << findings.example;
  const Findings of_sound = play_schedules<SimMem>(plan, sound);
  EXPECT_EQ(of_sound.of(Failure::kNone), kNumBrokenSchedules) << of_sound.example;
}

}  // namespace hierbar::test

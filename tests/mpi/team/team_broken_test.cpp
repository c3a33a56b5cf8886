// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Would mpi_team_sim_test notice? Each test weakens one order of protocols.hpp, or
// leaves one step out. It expects a report, and none for the sound team under the same schedules.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "team_sim.hpp"

namespace hierbar::test {
namespace {

using mpi::Callers;
using Role = SimTeam::Role;

// Simulated memory that knows what its words are for.
struct TeamMemory : SimMem {
  using SimMem::SimMem;
  static inline const SimTeam* team = nullptr;
  static bool is(const Word& word, Role role) { return team->role(word) == role; }
  std::uint64_t add_relaxed(Word& word, std::uint64_t value) const noexcept {
    return SimMem::fetch_add_relaxed(word, value);
  }
};

template <class Mem>
std::uint64_t count_failures(const TeamShape& shape, Failure failure, std::string& others) {
  constexpr std::uint64_t kNumSchedules = 2000;
  SimTeamTrial<Mem> trial(shape);
  TeamMemory::team = &trial.team();
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= kNumSchedules; ++seed) {
    const Outcome outcome = trial.run(seed);
    if (outcome.failure == failure) {
      ++found;
    } else if (outcome.failure != Failure::kNone) {
      others = "seed " + std::to_string(seed) + ": " + outcome.what;
    }
  }
  return found;
}

template <class BrokenMem>
void expect_race(const TeamShape& shape) {
  std::string others;
  EXPECT_GT(count_failures<BrokenMem>(shape, Failure::kDataRace, others), 0U)
      << shape.name << "; other finding: " << others;
  others.clear();
  EXPECT_EQ(count_failures<SimMem>(shape, Failure::kDataRace, others), 0U) << shape.name;
  EXPECT_EQ(others, "") << shape.name;
}

TeamShape in_turn() { return {"in_turn", Callers::kInTurn, {{3, 1}}}; }
TeamShape nodes_in_turn() { return {"nodes_in_turn", Callers::kInTurn, {{2}, {1}}}; }
TeamShape any() { return {"any", Callers::kAny, {{3}}}; }
TeamShape two_ranks() { return {"two_ranks", Callers::kThread0, {{2, 1}}}; }

// 1. Turns in calling MPI.

// (G1), (T3)
template <Role kRole>
struct RelaxedCount : TeamMemory {
  using TeamMemory::TeamMemory;
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return is(word, kRole) ? add_relaxed(word, value) : TeamMemory::fetch_add(word, value);
  }
};
// (G2), (T2), (T4)
template <Role kRole>
struct RelaxedLook : TeamMemory {
  using TeamMemory::TeamMemory;
  std::uint64_t load_acquire(const Word& word) const noexcept {
    return is(word, kRole) ? load_relaxed(word) : TeamMemory::load_acquire(word);
  }
};
// (G5), (T1)
template <Role kRole>
struct RelaxedStore : TeamMemory {
  using TeamMemory::TeamMemory;
  void store_release(Word& word, std::uint64_t value) const noexcept {
    is(word, kRole) ? store_relaxed(word, value) : TeamMemory::store_release(word, value);
  }
};
// The count is taken for full.
template <Role kRole>
struct Impatient : TeamMemory {
  using TeamMemory::TeamMemory;
  std::uint64_t load_acquire(const Word& word) const noexcept {
    return is(word, kRole) ? ~std::uint64_t{0} : TeamMemory::load_acquire(word);
  }
};
// (G3), (G4): the word is taken for 0.
template <Role kRole>
struct Blind : TeamMemory {
  using TeamMemory::TeamMemory;
  std::uint64_t load_seq_cst(const Word& word) const noexcept {
    return is(word, kRole) ? 0 : TeamMemory::load_seq_cst(word);
  }
};
// (G4)
struct ClosesByAStore : TeamMemory {
  using TeamMemory::TeamMemory;
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    if (!is(word, Role::kClosed)) return TeamMemory::exchange(word, value);
    store_release(word, value);
    return 0;
  }
};
struct TakesALockThatIsTaken : TeamMemory {
  using TeamMemory::TeamMemory;
  std::uint64_t load_relaxed(const Word& word) const noexcept {
    return is(word, Role::kLock) ? 0 : TeamMemory::load_relaxed(word);
  }
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    const std::uint64_t before = TeamMemory::exchange(word, value);
    return is(word, Role::kLock) ? 0 : before;
  }
};

TEST(BrokenTurns, AreCaughtWhenTheCountOfThoseWhoComeIsRelaxed) {
  expect_race<RelaxedCount<Role::kNumCome>>(in_turn());
}
TEST(BrokenTurns, AreCaughtWhenTheLookAtTheCountIsRelaxed) {
  expect_race<RelaxedLook<Role::kNumCome>>(in_turn());
}
TEST(BrokenTurns, AreCaughtWhenNobodyWaitsForTheLastToCome) {
  expect_race<Impatient<Role::kNumCome>>(in_turn());
}
TEST(BrokenTurns, AreCaughtWhenTheEpisodeIsClosedByAStore) {
  expect_race<ClosesByAStore>(in_turn());
}
TEST(BrokenTurns, AreCaughtWhenACallerDoesNotSeeTheEpisodeClosed) {
  expect_race<Blind<Role::kClosed>>(in_turn());
}
TEST(BrokenTurns, AreCaughtWhenALeavingThreadDoesNotWaitForACaller) {
  expect_race<Blind<Role::kLock>>(in_turn());
}
TEST(BrokenTurns, AreCaughtWhenTheLockIsReleasedRelaxed) {
  expect_race<RelaxedStore<Role::kLock>>(in_turn());
  expect_race<RelaxedStore<Role::kLock>>(any());
}
TEST(BrokenTurns, AreCaughtWhenTwoHaveTheLock) {
  expect_race<TakesALockThatIsTaken>(any());
  expect_race<TakesALockThatIsTaken>(nodes_in_turn());
}

// 2. A new plan.

TEST(BrokenPlanChange, IsCaughtWhenThePlanIsPublishedRelaxed) {
  expect_race<RelaxedStore<Role::kPublished>>(two_ranks());
}
TEST(BrokenPlanChange, IsCaughtWhenThePlanIsReadTooEarly) {
  expect_race<RelaxedLook<Role::kPublished>>(two_ranks());
  expect_race<Impatient<Role::kPublished>>(two_ranks());
}
TEST(BrokenPlanChange, IsCaughtWhenTheCountOfClearedSlotsIsRelaxed) {
  expect_race<RelaxedCount<Role::kCleared>>(two_ranks());
}
TEST(BrokenPlanChange, IsCaughtWhenTheLookAtThatCountIsRelaxed) {
  expect_race<RelaxedLook<Role::kCleared>>(two_ranks());
}
TEST(BrokenPlanChange, IsCaughtWhenNobodyWaitsForSlotsToBeCleared) {
  expect_race<Impatient<Role::kCleared>>(two_ranks());
}

// Plans that take one area, not two, in turn.
TEST(BrokenPlanChange, IsCaughtWhenTheAreaInUseIsCleared) {
  const TeamShape shape = two_ranks();
  std::uint64_t found = 0;
  SimTeamTrial<SimMem> trial(shape);
  trial.team().nodes()[0].slot_cells[1] = trial.team().nodes()[0].slot_cells[0];
  trial.team().nodes()[0].area_words[1] = trial.team().nodes()[0].area_words[0];
  trial.team().nodes()[0].areas[1] = trial.team().nodes()[0].areas[0];
  for (std::uint64_t seed = 1; seed <= 500; ++seed)
    found += trial.run(seed).failure != Failure::kNone;
  EXPECT_GT(found, 0U);
}

}  // namespace
}  // namespace hierbar::test

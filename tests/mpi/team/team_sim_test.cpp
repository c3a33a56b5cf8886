// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A team's own protocols on simulated memory, under thousands of seeded schedules for each shape:
// who calls MPI when, and how a new plan replaces the old one. Threads are late and asleep there,
// as in sim_test; here they also die. A failure names its seed. To repeat it:
// HIERBAR_TEST_SEED=<seed> mpi_team_sim_test --gtest_filter=*<shape>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/common/random.hpp"
#include "team_sim.hpp"
#include "tests/barrier/simulated/sim_trial.hpp"

namespace hierbar::test {
namespace {

using mpi::Callers;

constexpr std::uint64_t kSchedulesPerShape = 3000;

const std::vector<TeamShape>& shapes() {
  static const std::vector<TeamShape> all = {
      {"one_by_one", Callers::kThread0, {{1}}},
      {"one_by_three_in_turn", Callers::kInTurn, {{3}}},
      {"two_by_one", Callers::kThread0, {{1, 1}}},
      {"two_by_two", Callers::kAny, {{2, 2}}},
      {"two_by_two_in_turn", Callers::kInTurn, {{2, 2}}},
      {"uneven", Callers::kAny, {{1, 4, 2}}},
      {"uneven_in_turn", Callers::kInTurn, {{1, 4, 2}}},
      {"uneven_funneled", Callers::kThread0, {{3, 1, 2}}},
      {"two_nodes", Callers::kAny, {{2, 1}, {3}}},
      {"two_nodes_in_turn", Callers::kInTurn, {{2, 3}, {2, 1}}},
      {"two_nodes_funneled", Callers::kThread0, {{1, 2}, {2}}},
      {"three_nodes_one_alone_in_turn", Callers::kInTurn, {{1}, {3, 2}, {2}}},
  };
  return all;
}

class TeamOnSimulatedMemory : public testing::TestWithParam<std::size_t> {};

TEST_P(TeamOnSimulatedMemory, OrdersMemoryCallsAndPlansUnderEverySchedule) {
  const TeamShape& shape = shapes()[GetParam()];
  SimTeamTrial<SimMem> trial(shape);
  const Seeds seeds = chosen_seeds(kSchedulesPerShape);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const Outcome outcome = trial.run(seed);
    ASSERT_EQ(outcome.failure, Failure::kNone)
        << shape.name << " fails: " << outcome.what << "\nagain: HIERBAR_TEST_SEED=" << seed;
  }
  // One that never waits for others never calls.
  if (shape.num_threads() > 1 && seeds.last - seeds.first > 100) {
    EXPECT_GT(trial.num_calls(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TeamOnSimulatedMemory,
                         testing::Range<std::size_t>(0, shapes().size()),
                         [](const auto& instance) { return shapes()[instance.param].name; });

// Participants that stop for ever, each before one of its accesses to memory.
struct MortalMem : SimMem {
  using SimMem::SimMem;
  // By participant: how many accesses are left. 0: it lives on.
  static inline std::vector<std::uint64_t> left;
  static inline SimWord never;

  void live() const noexcept {
    if (left[me_] == 0 || --left[me_] != 0) return;
    while (!machine_.is_stopped()) machine_.watch(me_, never.index);
  }
  std::uint64_t load_relaxed(const Word& word) const noexcept {
    return live(), SimMem::load_relaxed(word);
  }
  std::uint64_t load_acquire(const Word& word) const noexcept {
    return live(), SimMem::load_acquire(word);
  }
  std::uint64_t load_seq_cst(const Word& word) const noexcept {
    return live(), SimMem::load_seq_cst(word);
  }
  void store_relaxed(Word& word, std::uint64_t value) const noexcept {
    live(), SimMem::store_relaxed(word, value);
  }
  void store_release(Word& word, std::uint64_t value) const noexcept {
    live(), SimMem::store_release(word, value);
  }
  std::uint64_t exchange(Word& word, std::uint64_t value) const noexcept {
    return live(), SimMem::exchange(word, value);
  }
  std::uint64_t fetch_or(Word& word, std::uint64_t bits) const noexcept {
    return live(), SimMem::fetch_or(word, bits);
  }
  std::uint64_t fetch_add(Word& word, std::uint64_t value) const noexcept {
    return live(), SimMem::fetch_add(word, value);
  }
};

// The others wait, whatever these were doing. None of them gets ahead, calls MPI out of turn, or
// uses a plan that is not complete.
void expect_that_others_wait(const TeamShape& shape, const std::vector<std::uint32_t>& victims) {
  constexpr std::uint32_t kMostAccesses = 100;
  SimTeamTrial<MortalMem> trial(shape);
  MortalMem::never = trial.team().never();
  std::uint64_t num_deaths = 0;
  const Seeds seeds = chosen_seeds(1000);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    Random random(seed);
    MortalMem::left.assign(shape.num_threads(), 0);
    for (const std::uint32_t victim : victims)
      MortalMem::left[victim] = 1 + random.below(kMostAccesses);
    const Outcome outcome = trial.run(seed);
    num_deaths += outcome.failure == Failure::kDeadlock;
    ASSERT_TRUE(outcome.failure == Failure::kDeadlock || outcome.failure == Failure::kNone)
        << shape.name << ": " << outcome.what << "\nagain: HIERBAR_TEST_SEED=" << seed;
  }
  if (seeds.last - seeds.first > 100) {
    EXPECT_GT(num_deaths, (seeds.last - seeds.first) / 2) << shape.name;
  }
}

TEST(DeathInATeam, LeavesTheOthersWaiting) {
  for (const TeamShape& shape : shapes()) {
    if (shape.num_threads() == 1) continue;
    for (const std::uint32_t victim : {0U, shape.num_threads() - 1})
      expect_that_others_wait(shape, {victim});
  }
}

TEST(DeathInATeam, OfAWholeRankLeavesTheOthersWaiting) {
  const TeamShape shape{"ranks", Callers::kInTurn, {{2, 3}, {2, 1}}};
  expect_that_others_wait(shape, {0, 1});
  expect_that_others_wait(shape, {2, 3, 4});
  expect_that_others_wait(shape, {7});
}

}  // namespace
}  // namespace hierbar::test

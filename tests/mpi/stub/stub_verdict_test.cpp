// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trial of ways for leaders to meet, and how it ends: in the whole shim over an MPI library of
// threads.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "mpi/between/trial.hpp"
#include "oracles.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

constexpr int kMeetings = static_cast<int>(mpi::Trial::kNumMeetings);
// Each fourth meeting of the first round is the library's. Three more end it; they are reductions.
constexpr int kLibraryMeetings = kMeetings / 4;
constexpr int kClosing = 3;
// What a trial takes at most. Schedules that are alike need further rounds.
constexpr int kMost =
    static_cast<int>(mpi::Trial::kMostMeetings + mpi::Trial::kMostFurtherRounds * kClosing) +
    kClosing;

const std::vector<StubTrial::Setting> kSettings{
    {"HIERBAR_FAKE_NODES", "5"}, {"HIERBAR_MPI_MEETING", "auto"}, {"HIERBAR_NETWORK", "off"}};
constexpr int kRanks = 5;

// A duplicate goes on where the world was, unless threads may be in barriers of both. A trial
// begins with four of the library's.
TEST(StubVerdict, WaysTakeTurnsAndDuplicatesGoOn) {
  // Of two barriers each, on one communicator and the other in turn: each has at least kMost.
  constexpr int kRounds = kMost + kMost % 2, kFirst = 8;
  for (const int level : {MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE}) {
    const int num_trials = level == MPI_THREAD_MULTIPLE ? 2 : 1;
    StubTrial trial(kRanks, kSettings, level);
    PlainBoard board(kRanks);
    std::atomic<int> wrong{0}, in_first{0};
    trial.run([&](Rank& rank) {
      MPI_Comm twin = rank.duplicate(MPI_COMM_WORLD);
      for (int round = 1; round <= kRounds; ++round) {
        if (round == kFirst / 2 + 1) in_first += rank.process.num_barriers;
        wrong += board.check(rank, round % 2 == 0 ? twin : MPI_COMM_WORLD, rank.number, round);
      }
      rank.shim.comm_free(&twin);
      rank.shim.finalize();
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(in_first, num_trials * kFirst / 2 * kRanks) << level;
    EXPECT_EQ(trial.num_open(), 0);
    EXPECT_EQ(trial.num_left_over(), 0U);
    EXPECT_EQ(trial.times_said("to be tried against the library's; assumed costs"), 1);
    // A verdict that a later trial changes is printed too.
    EXPECT_GE(trial.times_said("trial: library "), num_trials) << level;
    EXPECT_GE(trial.num_library_barriers(), num_trials * kLibraryMeetings * kRanks) << level;
  }
}

// The library is so slow that a schedule wins. Communicators made later start with it, also when
// threads may be in barriers of several, and when the one of the trial has been freed.
TEST(StubVerdict, LaterCommunicatorsStartWithIt) {
  for (const int level : {MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE}) {
    StubTrial trial(kRanks, kSettings, level);
    PlainBoard board(kRanks);
    std::atomic<int> wrong{0}, in_later{0};
    trial.run([&](Rank& rank) {
      rank.process.barrier_ms = 10;
      MPI_Comm first = rank.duplicate(MPI_COMM_WORLD);
      for (int i = 0; i < kMost; ++i) rank.shim.barrier(first);
      rank.shim.comm_free(&first);
      const int before = rank.process.num_barriers;
      for (int i = 0; i < 3; ++i) {
        MPI_Comm later = rank.duplicate(MPI_COMM_WORLD);
        for (int round = 1; round <= 10; ++round)
          wrong += board.check(rank, later, rank.number, 10 * i + round);
        rank.shim.comm_free(&later);
      }
      in_later += rank.process.num_barriers - before;
      rank.shim.finalize();
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(trial.times_said("trial: library "), 1) << level;
    EXPECT_GE(trial.num_library_barriers(), kLibraryMeetings * kRanks) << level;
    EXPECT_EQ(in_later, 0) << level;
    EXPECT_EQ(trial.num_left_over(), 0U) << level;
  }
}

// Long after a trial there is another one, in which the library has turns again.
TEST(StubVerdict, AnotherTrialFollowsAfterALongTime) {
  constexpr int kRounds = 20'000;
  StubTrial trial(kRanks, kSettings);
  std::atomic<int> in_another{0};
  trial.run([&](Rank& rank) {
    rank.process.barrier_ms = 10;
    for (int i = 0; i < kMost; ++i) rank.shim.barrier(MPI_COMM_WORLD);
    rank.process.barrier_ms = 0;
    const int before = rank.process.num_barriers;
    for (int i = 0; i < kRounds; ++i) rank.shim.barrier(MPI_COMM_WORLD);
    in_another += rank.process.num_barriers - before;
    rank.shim.finalize();
  });
  EXPECT_GE(in_another, kLibraryMeetings * kRanks);
  EXPECT_GE(trial.times_said("trial: library "), 1);
}

// One or two leaders in which reductions fail at the end of the first round. They have taken place
// for the others.
struct Failures {
  struct One {
    int rank = -1;
    int first_call = 1;  // of the three
    bool lasts = false;
  };
  const char* name;
  One one, other;
  bool keeps_library;
  int num_errors;  // barriers that fail, in all ranks
};

class StubVerdictFailures : public ::testing::TestWithParam<Failures> {};

TEST_P(StubVerdictFailures, PartNobody) {
  constexpr int kRounds = 20;
  const Failures& failures = GetParam();
  StubTrial trial(kRanks, kSettings);
  PlainBoard board(kRanks);
  std::atomic<int> wrong{0}, num_errors{0}, in_rounds{0};
  trial.run([&](Rank& rank) {
    rank.process.barrier_ms = 10;
    num_errors += rank.shim.barrier(MPI_COMM_WORLD) != MPI_SUCCESS;  // sets up
    for (const Failures::One& one : {failures.one, failures.other}) {
      if (one.rank == rank.number)
        rank.process.obey({"Allreduce", one.first_call, one.lasts, true});
    }
    for (int i = 1; i < kMeetings + kClosing; ++i)
      num_errors += rank.shim.barrier(MPI_COMM_WORLD) != MPI_SUCCESS;
    rank.process.obey({});
    if (failures.keeps_library) rank.process.barrier_ms = 0;
    for (int i = kMeetings + kClosing; i < kMost; ++i)
      num_errors += rank.shim.barrier(MPI_COMM_WORLD) != MPI_SUCCESS;
    rank.process.barrier_ms = 0;
    const int before = rank.process.num_barriers;
    for (int round = 1; round <= kRounds; ++round)
      wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
    in_rounds += rank.process.num_barriers - before;
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(num_errors, failures.num_errors);
  EXPECT_GE(trial.times_said("meeting of 5 nodes: library"), failures.keeps_library ? 1 : 0);
  EXPECT_EQ(in_rounds, failures.keeps_library ? 2 * kRounds * kRanks : 0);
  EXPECT_EQ(trial.num_open(), 0);
  EXPECT_EQ(trial.num_left_over(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Reductions, StubVerdictFailures,
    ::testing::Values(Failures{"none", {}, {}, false, 0},                             //
                      Failures{"times_in_rank_0", {0, 1, false}, {}, true, 1},        //
                      Failures{"times_in_rank_3", {3, 1, false}, {}, true, 1},        //
                      Failures{"all_in_rank_2", {2, 1, true}, {}, true, 3},           //
                      Failures{"first_vote_in_rank_0", {0, 2, false}, {}, false, 1},  //
                      Failures{"last_vote_in_rank_4", {4, 3, false}, {}, false, 1},
                      // It cannot know that nobody else has failed.
                      Failures{"both_votes_in_rank_1", {1, 2, true}, {}, false, 2},
                      Failures{"times_and_first_vote", {1, 1, false}, {3, 2, false}, true, 2},
                      Failures{"times_and_last_vote", {3, 1, false}, {0, 3, false}, true, 2}),
    [](const auto& failures) { return failures.param.name; });

}  // namespace
}  // namespace hierbar::test

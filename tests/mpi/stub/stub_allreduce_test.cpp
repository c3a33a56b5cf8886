// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Allreduce with HIERBAR_MPI=collectives, over a library that can do one of them only, the
// smallest of long longs, and whose calls fail when they are told to.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "oracles.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

// Whether the smallest of what the ranks bring came out, for each of `count` elements.
bool reduces(const Rank& rank, MPI_Comm comm, int num_ranks, int round, int count) {
  std::vector<long long> in, out(static_cast<std::size_t>(count));
  const bool in_place = (rank.number + round) % 3 == 0;
  for (int i = 0; i < count; ++i) in.push_back((rank.number + round + i) % num_ranks + 10 * i);
  if (in_place) out = in;
  rank.shim.allreduce(in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data()), out.data(),
                      count, MPI_LONG_LONG, MPI_MIN, comm);
  for (int i = 0; i < count; ++i) {
    if (out[static_cast<std::size_t>(i)] != 10 * i) return false;
  }
  return true;
}

class StubAllreduce : public ::testing::TestWithParam<int> {};

// What everybody wrote before is visible behind it, as behind a barrier.
TEST_P(StubAllreduce, OrdersPlainMemoryBetweenBarriers) {
  constexpr int kRounds = 60;
  const int num_ranks = GetParam();
  StubTrial trial(num_ranks, {kCollectives});
  PlainBoard board(num_ranks);
  std::vector<int> words(static_cast<std::size_t>(num_ranks));
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int round = 1; round <= kRounds; ++round) {
      words[static_cast<std::size_t>(rank.number)] = round;
      if (!reduces(rank, MPI_COMM_WORLD, num_ranks, round, 1 + round % 512)) ++wrong;
      for (const int word : words) wrong += word != round;
      wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said(in_words("allreduces", num_ranks, kRounds * num_ranks, 0)), 1);
  EXPECT_EQ(trial.num_open(), 0);
}

TEST_P(StubAllreduce, CommunicatorsComeAndGoInSeveralThreads) {
  constexpr int kThreads = 2, kComms = 30;
  const int num_ranks = GetParam();
  StubTrial trial(num_ranks, {kCollectives});
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    std::vector<MPI_Comm> parents;
    for (int thread = 0; thread < kThreads; ++thread)
      parents.push_back(rank.duplicate(MPI_COMM_WORLD));
    run_threads(rank, kThreads, [&](int thread) {
      for (int i = 0; i < kComms; ++i) {
        MPI_Comm comm = rank.duplicate(parents[static_cast<std::size_t>(thread)]);
        for (int round = 0; round < 3; ++round) {
          if (!reduces(rank, comm, num_ranks, round, 512)) ++wrong;
        }
        rank.shim.comm_free(&comm);
      }
    });
    for (MPI_Comm& parent : parents) rank.shim.comm_free(&parent);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said("allreduces of rank"), num_ranks) << "the world was not set up";
  EXPECT_EQ(trial.num_open(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, StubAllreduce, ::testing::Values(2, 3, 5),
                         ::testing::PrintToStringParamName());

// Each of the library's calls in which the memory is agreed on fails in one rank.
TEST(StubAllreduceFaults, AllRanksLeaveItToTheLibrary) {
  for (const auto& [function, first_call] :
       {std::pair{"Pack", 1}, std::pair{"Allgather", 1}, std::pair{"Allreduce", 1},
        std::pair{"Allreduce", 2}}) {
    for (const int failing : {0, 2}) {
      StubTrial trial(3, {kCollectives});
      std::atomic<int> wrong{0};
      trial.run([&, function = function, first_call = first_call](Rank& rank) {
        rank.shim.barrier(MPI_COMM_WORLD);
        if (rank.number == failing) rank.process.obey({function, first_call, false, true});
        for (int round = 0; round < 4; ++round) {
          if (!reduces(rank, MPI_COMM_WORLD, 3, round, 7)) ++wrong;
        }
        rank.shim.barrier(MPI_COMM_WORLD);
        rank.shim.finalize();
      });
      EXPECT_EQ(wrong, 0) << function << first_call;
      EXPECT_EQ(trial.times_said(in_words(3, 6)), 1) << function << first_call;
      // A rank in which the last call fails knows the verdict by then.
      const bool is_last = first_call == 2;
      EXPECT_EQ(trial.times_said(in_words("allreduces", 3, is_last ? 12 : 0, is_last ? 0 : 12)), 1)
          << function << first_call << ' ' << failing;
      EXPECT_EQ(trial.times_said("the MPI library serves its allreduces, allgathers, alltoalls "),
                is_last ? 0 : 1);
    }
  }
}

}  // namespace
}  // namespace hierbar::test

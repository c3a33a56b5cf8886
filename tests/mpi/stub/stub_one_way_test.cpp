// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Bcast and MPI_Reduce with HIERBAR_MPI=collectives, over a library whose only reduction is the
// sum of 64-bit numbers, and whose calls fail when they are told to.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "oracles.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;
using Words = std::vector<std::uint64_t>;

// Whether all ranks get what the root has.
bool brings(const Rank& rank, MPI_Comm comm, int root, std::uint64_t round, int count) {
  Words data(static_cast<std::size_t>(count), rank.number == root ? round : 0);
  rank.shim.bcast(data.data(), count, MPI_UINT64_T, root, comm);
  return data == Words(data.size(), round);
}

// Whether the root gets the sum of what all ranks have.
bool sums(const Rank& rank, MPI_Comm comm, int num_ranks, int root, std::uint64_t round,
          int count) {
  const Words in(static_cast<std::size_t>(count), round);
  Words out(in.size());
  rank.shim.reduce(in.data(), out.data(), count, MPI_UINT64_T, MPI_SUM, root, comm);
  const std::uint64_t sum = rank.number == root ? round * static_cast<std::uint64_t>(num_ranks) : 0;
  return out == Words(in.size(), sum);
}

class StubOneWay : public ::testing::TestWithParam<int> {};

// What the root of a bcast wrote before is visible to all, and to the root of a reduce what all
// did.
TEST_P(StubOneWay, OrdersPlainMemoryTheWayOfTheData) {
  constexpr int kRounds = 60;
  const int num_ranks = GetParam();
  StubTrial trial(num_ranks, {kCollectives});
  PlainBoard board(num_ranks);
  int of_root = 0;
  std::vector<int> words(static_cast<std::size_t>(num_ranks));
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int round = 1; round <= kRounds; ++round) {
      const int root = round % num_ranks;
      if (rank.number == root) of_root = round;
      words[static_cast<std::size_t>(rank.number)] = round;
      const auto value = static_cast<std::uint64_t>(round);
      if (!brings(rank, MPI_COMM_WORLD, root, value, 1 + 9 * round % 512)) ++wrong;
      wrong += of_root != round;
      if (!sums(rank, MPI_COMM_WORLD, num_ranks, root, value, 1 + 7 * round % 512)) ++wrong;
      if (rank.number == root) {
        for (const int word : words) wrong += word != round;
      }
      wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said(in_words("bcasts", num_ranks, kRounds * num_ranks, 0)), 1);
  EXPECT_EQ(trial.times_said(in_words("reduces", num_ranks, kRounds * num_ranks, 0)), 1);
  EXPECT_EQ(trial.num_open(), 0);
}

// Nothing but the data orders the ranks: the slots are used again and again.
TEST_P(StubOneWay, CommunicatorsComeAndGo) {
  const int num_ranks = GetParam();
  StubTrial trial(num_ranks, {kCollectives});
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int i = 0; i < 20; ++i) {
      MPI_Comm comm = rank.duplicate(MPI_COMM_WORLD);
      for (std::uint64_t round = 1; round < 50; ++round) {
        const int root = static_cast<int>(round / 20) % num_ranks;
        const int count = round % 3 == 0 ? 512 : 4;
        if (!brings(rank, comm, root, round, count)) ++wrong;
        if (!sums(rank, comm, num_ranks, root, round, count)) ++wrong;
      }
      rank.shim.comm_free(&comm);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_open(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, StubOneWay, ::testing::Values(2, 3, 5),
                         ::testing::PrintToStringParamName());

// Each of the library's calls in which the memory is agreed on fails in one rank.
TEST(StubOneWayFaults, AllRanksLeaveItToTheLibrary) {
  for (const auto& [function, first_call] :
       {std::pair{"Pack", 1}, std::pair{"Allgather", 1}, std::pair{"Allreduce", 1},
        std::pair{"Allreduce", 2}}) {
    for (const int failing : {0, 2}) {
      StubTrial trial(3, {kCollectives});
      std::atomic<int> wrong{0};
      trial.run([&, function = function, first_call = first_call](Rank& rank) {
        rank.shim.barrier(MPI_COMM_WORLD);
        if (rank.number == failing) rank.process.obey({function, first_call, false, true});
        for (std::uint64_t round = 1; round < 5; ++round) {
          if (!brings(rank, MPI_COMM_WORLD, 1, round, 7)) ++wrong;
          if (!sums(rank, MPI_COMM_WORLD, 3, 1, round, 7)) ++wrong;
        }
        rank.shim.finalize();
      });
      EXPECT_EQ(wrong, 0) << function << first_call;
      // A rank in which the last call fails knows the verdict by then.
      const bool is_last = first_call == 2;
      EXPECT_EQ(trial.times_said(in_words("bcasts", 3, is_last ? 12 : 0, is_last ? 0 : 12)), 1)
          << function << first_call << ' ' << failing;
      EXPECT_EQ(trial.times_said(
                    "the MPI library serves its bcasts, reduces, gathers and scatters instead"),
                is_last ? 0 : 1);
    }
  }
}

// A rank whose bytes are not the root's calls the error handler, and the next calls are right.
TEST(StubOneWayLengths, TheRankThatExpectsOthersRaisesAnError) {
  struct Lengths {
    int of_root, of_last, error;
  };
  StubTrial trial(3, {kCollectives});
  trial.run([&](Rank& rank) {
    EXPECT_TRUE(brings(rank, MPI_COMM_WORLD, 1, 5, 7));
    const bool is_last = rank.number == 2;
    for (const Lengths& lengths :
         {Lengths{3, 2, MPI_ERR_TRUNCATE}, Lengths{2, 3, MPI_ERR_OTHER},
          Lengths{512, 3, MPI_ERR_TRUNCATE}, Lengths{3, 512, MPI_ERR_OTHER}}) {
      const int count = is_last ? lengths.of_last : lengths.of_root;
      Words data(static_cast<std::size_t>(count) + 1, rank.number == 0 ? 9 : 0);
      rank.process.obey({});
      const int status = rank.shim.bcast(data.data(), count, MPI_UINT64_T, 0, MPI_COMM_WORLD);
      EXPECT_EQ(status, is_last ? lengths.error : MPI_SUCCESS);
      EXPECT_EQ(rank.process.num_calls()["Comm_call_errhandler"], is_last ? 1 : 0);
      EXPECT_EQ(data.back(), rank.number == 0 ? 9u : 0u);
      EXPECT_TRUE(brings(rank, MPI_COMM_WORLD, 1, 5, 7));
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said(in_words("bcasts", 3, 27, 0)), 1);
}

}  // namespace
}  // namespace hierbar::test

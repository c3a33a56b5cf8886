// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Allgather, MPI_Alltoall and MPI_Reduce_scatter_block with HIERBAR_MPI=collectives, over a
// library whose calls fail when they are told to.

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

// Element `i` of what rank `from` brings for rank `to`.
std::uint64_t word(int round, int from, int to, int i) {
  return static_cast<std::uint64_t>(((round * 100 + from) * 100 + to) * 1000 + i);
}

// What comes together in rank `to`, from all ranks.
Words all_for(int to, int num_ranks, int round, int count) {
  Words words;
  for (int from = 0; from < num_ranks; ++from) {
    for (int i = 0; i < count; ++i) words.push_back(word(round, from, to, i));
  }
  return words;
}

// Whether all ranks get what all bring. The library has no MPI_IN_PLACE.
bool gathers(const Rank& rank, MPI_Comm comm, int num_ranks, int round, int count,
             bool in_place = false) {
  const Words right = all_for(0, num_ranks, round, count);
  Words in, out(right.size());
  for (int i = 0; i < count; ++i) in.push_back(word(round, rank.number, 0, i));
  if (in_place) {
    std::copy(in.begin(), in.end(), out.begin() + static_cast<std::ptrdiff_t>(rank.number) * count);
  }
  rank.shim.allgather(in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data()), count,
                      MPI_UINT64_T, out.data(), count, MPI_UINT64_T, comm);
  return out == right;
}

// Whether each gets what all bring for it.
bool exchanges(const Rank& rank, MPI_Comm comm, int num_ranks, int round, int count,
               bool in_place = false) {
  const Words right = all_for(rank.number, num_ranks, round, count);
  Words in;
  for (int to = 0; to < num_ranks; ++to) {
    for (int i = 0; i < count; ++i) in.push_back(word(round, rank.number, to, i));
  }
  Words out = in_place ? in : Words(in.size());
  rank.shim.alltoall(in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data()), count,
                     MPI_UINT64_T, out.data(), count, MPI_UINT64_T, comm);
  return out == right;
}

// Whether each gets the sums of what all bring for it.
bool sums_up(const Rank& rank, MPI_Comm comm, int num_ranks, int round, int count,
             bool in_place = false) {
  const Words all = all_for(rank.number, num_ranks, round, count);
  Words in, right(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) right[i % right.size()] += all[i];
  for (int to = 0; to < num_ranks; ++to) {
    for (int i = 0; i < count; ++i) in.push_back(word(round, rank.number, to, i));
  }
  Words out = in_place ? in : Words(right.size());
  rank.shim.reduce_scatter(in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data()),
                           out.data(), count, MPI_UINT64_T, MPI_SUM, comm);
  out.resize(right.size());
  return out == right;
}

class StubAllgather : public ::testing::TestWithParam<int> {};

// What everybody wrote before is visible behind it, as behind a barrier.
TEST_P(StubAllgather, OrdersPlainMemory) {
  constexpr int kRounds = 60;
  const int num_ranks = GetParam();
  StubTrial trial(num_ranks, {kCollectives});
  PlainBoard board(num_ranks);
  std::vector<int> words(static_cast<std::size_t>(num_ranks));
  std::atomic<int> wrong{0};
  const int most = 512 / num_ranks;  // 4 KiB in all
  trial.run([&](Rank& rank) {
    for (int round = 1; round <= kRounds; ++round) {
      words[static_cast<std::size_t>(rank.number)] = round;
      if (!gathers(rank, MPI_COMM_WORLD, num_ranks, round, 1 + 7 * round % most, round % 3 == 0))
        ++wrong;
      for (const int each : words) wrong += each != round;
      if (!exchanges(rank, MPI_COMM_WORLD, num_ranks, round, 1 + 5 * round % most, round % 4 == 0))
        ++wrong;
      if (!sums_up(rank, MPI_COMM_WORLD, num_ranks, round, 1 + 3 * round % most, round % 4 == 1))
        ++wrong;
      words[static_cast<std::size_t>(rank.number)] = -round;
      if (!exchanges(rank, MPI_COMM_WORLD, num_ranks, round, 1)) ++wrong;
      for (const int each : words) wrong += each != -round;
      wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said(in_words("allgathers", num_ranks, kRounds * num_ranks, 0)), 1);
  EXPECT_EQ(trial.times_said(in_words("alltoalls", num_ranks, 2 * kRounds * num_ranks, 0)), 1);
  EXPECT_EQ(trial.times_said(in_words("reduce-scatters", num_ranks, kRounds * num_ranks, 0)), 1);
  EXPECT_EQ(trial.num_open(), 0);
}

// Only what all ranks bring together is bounded. What is larger needs no memory of the engine's.
TEST_P(StubAllgather, LeavesWhatIsLargeToTheLibrary) {
  const int num_ranks = GetParam(), most = 512 / num_ranks;
  StubTrial trial(num_ranks, {kCollectives});
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int round = 0; round < 3; ++round) {
      for (const int count : {600, most + 1, most}) {
        if (!gathers(rank, MPI_COMM_WORLD, num_ranks, round, count)) ++wrong;
        if (!exchanges(rank, MPI_COMM_WORLD, num_ranks, round, count)) ++wrong;
        if (!sums_up(rank, MPI_COMM_WORLD, num_ranks, round, count)) ++wrong;
      }
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  for (const char* const calls : {"allgathers", "alltoalls", "reduce-scatters"})
    EXPECT_EQ(trial.times_said(in_words(calls, num_ranks, 3 * num_ranks, 6 * num_ranks)), 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, StubAllgather, ::testing::Values(2, 3, 5),
                         ::testing::PrintToStringParamName());

// Each of the library's calls in which the memory is agreed on fails in one rank. The second of
// "Allgather" is the program's.
TEST(StubAllgatherFaults, AllRanksLeaveItToTheLibrary) {
  for (const auto& [function, first_call] :
       {std::pair{"Pack", 1}, std::pair{"Allgather", 1}, std::pair{"Allreduce", 1}}) {
    for (const int failing : {0, 2}) {
      StubTrial trial(3, {kCollectives});
      std::atomic<int> wrong{0};
      trial.run([&, function = function, first_call = first_call](Rank& rank) {
        rank.shim.barrier(MPI_COMM_WORLD);
        if (rank.number == failing) rank.process.obey({function, first_call, false, true});
        for (int round = 0; round < 4; ++round) {
          if (!exchanges(rank, MPI_COMM_WORLD, 3, round, 7)) ++wrong;
          if (!gathers(rank, MPI_COMM_WORLD, 3, round, 7)) ++wrong;
          if (!sums_up(rank, MPI_COMM_WORLD, 3, round, 7)) ++wrong;
        }
        rank.shim.finalize();
      });
      EXPECT_EQ(wrong, 0) << function;
      for (const char* const calls : {"allgathers", "alltoalls", "reduce-scatters"})
        EXPECT_EQ(trial.times_said(in_words(calls, 3, 0, 12)), 1) << function << ' ' << failing;
      EXPECT_EQ(trial.times_said("the MPI library serves its allreduces, allgathers, alltoalls "),
                1);
    }
  }
}

}  // namespace
}  // namespace hierbar::test

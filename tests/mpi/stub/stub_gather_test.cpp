// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Gather and MPI_Scatter with HIERBAR_MPI=collectives, over a library whose calls fail when
// they are told to.

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

// What a rank brings in a gather, and gets in a scatter.
Words part_of_rank(int number, int round, int count) {
  Words words;
  for (int i = 0; i < count; ++i)
    words.push_back(static_cast<std::uint64_t>((round * 100 + number) * 1000 + i));
  return words;
}
Words all_parts(int num_ranks, int round, int count) {
  Words words;
  for (int number = 0; number < num_ranks; ++number) {
    const Words part = part_of_rank(number, round, count);
    words.insert(words.end(), part.begin(), part.end());
  }
  return words;
}

struct Call {
  MPI_Comm comm;
  int num_ranks;
  int root;
  int round;
  int count;
  bool in_place = false;  // in the root; the library has no MPI_IN_PLACE
};

// Whether the root gets what all bring. The others give no buffer, and a count that means nothing.
bool gathers(const Rank& rank, const Call& call) {
  const bool is_root = rank.number == call.root;
  const bool in_place = call.in_place && is_root;
  const Words in = part_of_rank(rank.number, call.round, call.count);
  const Words right = is_root ? all_parts(call.num_ranks, call.round, call.count) : Words{};
  Words out(right.size());
  if (in_place) std::copy(in.begin(), in.end(), out.begin() + call.root * call.count);
  const int status = rank.shim.gather(
      in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data()), in_place ? -5 : call.count,
      in_place ? MPI_DATATYPE_NULL : MPI_UINT64_T, is_root ? out.data() : nullptr,
      is_root ? call.count : -3, is_root ? MPI_UINT64_T : MPI_DATATYPE_NULL, call.root, call.comm);
  return status == MPI_SUCCESS && out == right;
}

// Whether each gets its part of what the root has.
bool scatters(const Rank& rank, const Call& call) {
  const bool is_root = rank.number == call.root;
  const bool in_place = call.in_place && is_root;
  const Words in = is_root ? all_parts(call.num_ranks, call.round, call.count) : Words{};
  Words out(static_cast<std::size_t>(call.count));
  const int status = rank.shim.scatter(
      is_root ? in.data() : nullptr, is_root ? call.count : -3,
      is_root ? MPI_UINT64_T : MPI_DATATYPE_NULL,
      in_place ? MPI_IN_PLACE : static_cast<void*>(out.data()), in_place ? -5 : call.count,
      in_place ? MPI_DATATYPE_NULL : MPI_UINT64_T, call.root, call.comm);
  return status == MPI_SUCCESS &&
         out == (in_place ? Words(out.size()) : part_of_rank(rank.number, call.round, call.count));
}

class StubGather : public ::testing::TestWithParam<int> {};

// The root sees what all wrote before a gather, and all what it wrote before a scatter.
TEST_P(StubGather, OrdersPlainMemoryTheWayOfTheData) {
  constexpr int kRounds = 60;
  const int num_ranks = GetParam();
  StubTrial trial(num_ranks, {kCollectives});
  PlainBoard board(num_ranks);
  int of_root = 0;
  std::vector<int> words(static_cast<std::size_t>(num_ranks));
  std::atomic<int> wrong{0};
  const int most = 512 / num_ranks;  // 4 KiB in all
  trial.run([&](Rank& rank) {
    for (int round = 1; round <= kRounds; ++round) {
      const int root = round % num_ranks;
      if (rank.number == root) of_root = round;
      words[static_cast<std::size_t>(rank.number)] = round;
      Call call{MPI_COMM_WORLD, num_ranks, root, round, 1 + 9 * round % most, round % 3 == 0};
      if (!scatters(rank, call)) ++wrong;
      wrong += of_root != round;
      call.count = 1 + 7 * round % most;
      if (!gathers(rank, call)) ++wrong;
      if (rank.number == root) {
        for (const int word : words) wrong += word != round;
      }
      wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said(in_words("gathers", num_ranks, kRounds * num_ranks, 0)), 1);
  EXPECT_EQ(trial.times_said(in_words("scatters", num_ranks, kRounds * num_ranks, 0)), 1);
  EXPECT_EQ(trial.num_open(), 0);
}

// Nothing but the data orders the ranks: the slots are used again and again.
TEST_P(StubGather, CommunicatorsComeAndGo) {
  const int num_ranks = GetParam();
  StubTrial trial(num_ranks, {kCollectives});
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int i = 0; i < 20; ++i) {
      MPI_Comm comm = rank.duplicate(MPI_COMM_WORLD);
      for (int round = 1; round < 50; ++round) {
        const int count = round % 3 == 0 ? 512 / num_ranks : 2;
        const Call call{comm, num_ranks, round / 20 % num_ranks, round, count, round % 7 == 0};
        if (!gathers(rank, call)) ++wrong;
        if (!scatters(rank, call)) ++wrong;
      }
      rank.shim.comm_free(&comm);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_open(), 0);
}

// Only what all ranks have together is bounded. What is larger needs no memory of the engine's.
TEST_P(StubGather, LeavesWhatIsLargeToTheLibrary) {
  const int num_ranks = GetParam(), most = 512 / num_ranks;
  StubTrial trial(num_ranks, {kCollectives});
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int round = 0; round < 3; ++round) {
      for (const int count : {600, most + 1, most}) {
        const Call call{MPI_COMM_WORLD, num_ranks, round % num_ranks, round, count};
        if (!gathers(rank, call)) ++wrong;
        if (!scatters(rank, call)) ++wrong;
      }
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  for (const char* const calls : {"gathers", "scatters"})
    EXPECT_EQ(trial.times_said(in_words(calls, num_ranks, 3 * num_ranks, 6 * num_ranks)), 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, StubGather, ::testing::Values(2, 3, 5),
                         ::testing::PrintToStringParamName());

// Each of the library's calls in which the memory is agreed on fails in one rank.
TEST(StubGatherFaults, AllRanksLeaveItToTheLibrary) {
  for (const char* const function : {"Pack", "Allgather", "Allreduce"}) {
    for (const int failing : {0, 2}) {
      StubTrial trial(3, {kCollectives});
      std::atomic<int> wrong{0};
      trial.run([&](Rank& rank) {
        rank.shim.barrier(MPI_COMM_WORLD);
        if (rank.number == failing) rank.process.obey({function, 1, false, true});
        for (int round = 0; round < 4; ++round) {
          const Call call{MPI_COMM_WORLD, 3, 1, round, 7};
          if (!gathers(rank, call)) ++wrong;
          if (!scatters(rank, call)) ++wrong;
        }
        rank.shim.finalize();
      });
      EXPECT_EQ(wrong, 0) << function;
      for (const char* const calls : {"gathers", "scatters"})
        EXPECT_EQ(trial.times_said(in_words(calls, 3, 0, 12)), 1) << function << ' ' << failing;
    }
  }
}

// The root of a gather whose part is not as large as another rank's calls the error handler; so
// does a rank that expects another part than the root has for it. The next calls are right.
TEST(StubGatherLengths, WhoGetsOthersThanItExpectsRaisesAnError) {
  struct Lengths {
    int of_root, of_last, error;
  };
  constexpr int kNumRanks = 3, kRoot = 1, kLast = 2;
  StubTrial trial(kNumRanks, {kCollectives});
  trial.run([&](Rank& rank) {
    EXPECT_TRUE(gathers(rank, {MPI_COMM_WORLD, kNumRanks, kRoot, 5, 7}));
    const bool is_root = rank.number == kRoot, is_last = rank.number == kLast;
    for (const auto& [of_root, of_last, error] :
         {Lengths{3, 2, MPI_ERR_TRUNCATE}, Lengths{2, 3, MPI_ERR_OTHER},
          Lengths{170, 3, MPI_ERR_TRUNCATE}, Lengths{3, 170, MPI_ERR_OTHER}}) {
      const int count = is_last ? of_last : of_root;
      const Words in = all_parts(kNumRanks, 1, of_root);
      Words out(static_cast<std::size_t>(count) + 1);
      rank.process.obey({});
      int status = rank.shim.scatter(in.data(), of_root, MPI_UINT64_T, out.data(), count,
                                     MPI_UINT64_T, kRoot, MPI_COMM_WORLD);
      EXPECT_EQ(status, is_last ? error : MPI_SUCCESS);
      EXPECT_EQ(rank.process.num_calls()["Comm_call_errhandler"], is_last ? 1 : 0);
      EXPECT_EQ(out.back(), 0u);

      // The other way the root has more or less than comes.
      const Words own = part_of_rank(rank.number, 1, count);
      Words all(in.size() + 1);
      rank.process.obey({});
      status = rank.shim.gather(own.data(), count, MPI_UINT64_T, all.data(), of_root, MPI_UINT64_T,
                                kRoot, MPI_COMM_WORLD);
      const int of_gather = error == MPI_ERR_OTHER ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
      EXPECT_EQ(status, is_root ? of_gather : MPI_SUCCESS);
      EXPECT_EQ(rank.process.num_calls()["Comm_call_errhandler"], is_root ? 1 : 0);
      EXPECT_EQ(all.back(), 0u);
      EXPECT_TRUE(gathers(rank, {MPI_COMM_WORLD, kNumRanks, kRoot, 5, 7}));
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said(in_words("gathers", kNumRanks, 27, 0)), 1);
  EXPECT_EQ(trial.times_said(in_words("scatters", kNumRanks, 12, 0)), 1);
}

}  // namespace
}  // namespace hierbar::test

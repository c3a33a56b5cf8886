// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole shim over an MPI library of threads, for the sanitizers, which cannot look into the
// real ones.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "bench/common/random.hpp"
#include "oracles.hpp"
#include "report/merge.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

struct Shape {
  const char* name;
  int num_ranks;
  const char* num_nodes;
};

class StubShapes : public ::testing::TestWithParam<Shape> {};

TEST_P(StubShapes, BarriersOfTheWorldOrderPlainMemory) {
  constexpr int kRounds = 100;
  const int num_ranks = GetParam().num_ranks;
  StubTrial trial(num_ranks, {{"HIERBAR_FAKE_NODES", GetParam().num_nodes}});
  PlainBoard board(num_ranks);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int round = 1; round <= kRounds; ++round)
      wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said(in_words(num_ranks, 2 * kRounds * num_ranks)), 1);
  EXPECT_EQ(trial.num_library_barriers(),
            GetParam().num_nodes[0] == '1' ? 0 : 2 * kRounds * (GetParam().num_nodes[0] - '0'));
  EXPECT_EQ(trial.num_open(), 0);
}

// Threads of each rank in barriers of different communicators at the same time; the first barriers,
// which set up, are in here.
TEST_P(StubShapes, ConcurrentBarriersOnSeveralCommunicators) {
  constexpr int kThreads = 3, kRounds = 30;
  const int num_ranks = GetParam().num_ranks;
  StubTrial trial(num_ranks, {{"HIERBAR_FAKE_NODES", GetParam().num_nodes}});
  std::vector<PlainBoard> boards(kThreads, PlainBoard(num_ranks));
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    std::vector<MPI_Comm> comms;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) comms.push_back(rank.duplicate(MPI_COMM_WORLD));
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        rank.process.make_current();
        for (int round = 1; round <= kRounds; ++round)
          wrong += boards[i].check(rank, comms[i], rank.number, round);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (MPI_Comm& comm : comms) rank.shim.comm_free(&comm);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_open(), 0);
}

// Stamps are put together while other threads of the same rank are in barriers, and when a
// communicator is freed.
TEST_P(StubShapes, ConcurrentBarriersAreRecorded) {
  constexpr int kThreads = 2, kRounds = 50;
  const std::string output =
      ::testing::TempDir() + "hierbar-stub-report-" + std::to_string(getpid()) + "-%r";
  StubTrial trial(GetParam().num_ranks, {{"HIERBAR_FAKE_NODES", GetParam().num_nodes},
                                         {"HIERBAR_REPORT", "json"},
                                         {"HIERBAR_OUTPUT", output.c_str()}});
  trial.run([&](Rank& rank) {
    std::vector<MPI_Comm> comms;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) comms.push_back(rank.duplicate(MPI_COMM_WORLD));
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        rank.process.make_current();
        for (int round = 0; round < kRounds; ++round) rank.shim.barrier(comms[i]);
      });
    }
    for (std::thread& thread : threads) thread.join();
    rank.shim.comm_free(&comms[0]);  // the other one is settled at the end
    rank.shim.barrier(MPI_COMM_WORLD);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.num_open(), 0);
  const std::string file = output.substr(0, output.size() - 2) + "all.json";
  std::ifstream stream(file);
  const report::Report report = report::parse_report({std::istreambuf_iterator<char>(stream), {}});
  std::remove(file.c_str());
  std::uint64_t num_barriers = report.losses.left_out;
  for (const report::SiteReport& site : report.sites) num_barriers += site.episodes;
  EXPECT_EQ(num_barriers, kThreads * kRounds + 1u);
  EXPECT_EQ(report.num_processes, static_cast<std::uint32_t>(GetParam().num_ranks));
  EXPECT_EQ(report.losses.incomplete, 0u);
}

// A block is used again while ranks still leave the last barrier of the one before: in room for a
// few.
TEST_P(StubShapes, CommunicatorsComeAndGo) {
  constexpr int kCycles = 60;
  const int num_ranks = GetParam().num_ranks;
  StubTrial trial(num_ranks,
                  {{"HIERBAR_FAKE_NODES", GetParam().num_nodes}, {"HIERBAR_SEGMENT_KIB", "16"}},
                  MPI_THREAD_SINGLE);
  trial.run([&](Rank& rank) {
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      MPI_Comm copy = rank.duplicate(MPI_COMM_WORLD);
      rank.shim.barrier(copy);
      rank.shim.barrier(copy);
      rank.shim.comm_free(&copy);
      // MPI's own two, the one for progress, and none of the leaders'.
      EXPECT_LE(rank.process.seats.size(), 3u);
    }
    rank.shim.barrier(MPI_COMM_WORLD);
    rank.shim.finalize();
    EXPECT_TRUE(rank.process.seats.empty()) << "the shim keeps communicators of its own";
  });
  EXPECT_EQ(trial.times_said(in_words(num_ranks, (2 * kCycles + 1) * num_ranks)), 1);
  EXPECT_EQ(trial.num_open(), 0);
}

// The library serves a communicator's first barriers, and then the set-up comes, in all ranks
// together. Communicators that are freed before leave nothing behind.
TEST_P(StubShapes, CommunicatorsAreSetUpAtTheirEighthBarrier) {
  constexpr int kBefore = 7, kRounds = 20, kShort = 24, kOfShort = 3 * (1 + 2 + 3 + 4 + 5 + 6 + 7);
  const int num_ranks = GetParam().num_ranks;
  StubTrial trial(num_ranks,
                  {{"HIERBAR_FAKE_NODES", GetParam().num_nodes}, {"HIERBAR_MPI_SET_UP_AT", "8"}});
  PlainBoard board(num_ranks);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    MPI_Comm copy = rank.duplicate(MPI_COMM_WORLD);
    rank.shim.barrier(MPI_COMM_WORLD);
    const int before = rank.process.num_barriers;
    for (int i = 0; i < kShort; ++i) {
      MPI_Comm brief = rank.duplicate(MPI_COMM_WORLD);
      for (int use = 0; use < i % (kBefore + 1); ++use) rank.shim.barrier(brief);
      rank.shim.comm_free(&brief);
    }
    EXPECT_EQ(rank.process.num_barriers - before, kOfShort)
        << "all of the brief ones' are the library's";
    for (int round = 1; round <= kRounds; ++round)
      wrong += board.check(rank, copy, rank.number, round);
    rank.shim.comm_free(&copy);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  const std::string library = std::to_string((kOfShort + kBefore) * num_ranks);
  EXPECT_EQ(trial.times_said(in_words(num_ranks, (1 + 2 * kRounds - kBefore) * num_ranks,
                                      "library " + library + " (before set-up " + library + ")")),
            1);
  EXPECT_EQ(trial.num_open(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, StubShapes,
                         ::testing::Values(Shape{"two", 2, "1"}, Shape{"six", 6, "1"},
                                           Shape{"two_nodes", 4, "2"},
                                           Shape{"three_uneven_nodes", 5, "3"}),
                         [](const auto& trial) { return trial.param.name; });

// Random sub-communicators, several alive at a time, some still at the end.
TEST(Stub, OracleOverRandomSubCommunicators) {
  constexpr int kRanks = 5, kRounds = 8;
  StubTrial trial(kRanks);
  std::vector<PlainBoard> boards(std::size_t{kRounds} * 2, PlainBoard(0));
  std::atomic<int> wrong{0};
  std::vector<std::vector<int>> seats(kRounds, std::vector<int>(kRanks));
  Random colours(3);
  for (int round = 0; round < kRounds; ++round) {
    int sizes[2] = {0, 0};
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto colour = static_cast<int>(colours.below(2));
      seats[static_cast<std::size_t>(round)][static_cast<std::size_t>(rank)] = colour;
      ++sizes[colour];
    }
    for (int colour = 0; colour < 2; ++colour) {
      boards[static_cast<std::size_t>(round * 2 + colour)] = PlainBoard(sizes[colour]);
    }
  }
  trial.run([&](Rank& rank) {
    std::vector<MPI_Comm> comms;
    for (int round = 0; round < kRounds; ++round) {
      const int colour =
          seats[static_cast<std::size_t>(round)][static_cast<std::size_t>(rank.number)];
      MPI_Comm part;
      PMPI_Comm_split(MPI_COMM_WORLD, colour,
                      static_cast<int>(mix(static_cast<std::uint64_t>(rank.number + round)) % 7),
                      &part);
      comms.push_back(part);
      const int seat = rank.process.find(part)->rank;
      for (int use = 1; use <= 10; ++use) {
        wrong += boards[static_cast<std::size_t>(round * 2 + colour)].check(rank, part, seat, use);
      }
      if (round % 2 == 0) rank.shim.comm_free(&comms.back());
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_open(), 0);
}

// Two of three ranks use again what the third has let go of, with no call in common with it in
// between.
TEST(Stub, ABlockThatOthersHaveLeftIsUsedAgain) {
  constexpr int kCycles = 50;
  StubTrial trial(3);
  std::atomic<int> left{
      0};  // cycles in which rank 2 has let go; relaxed, so that it orders nothing
  trial.run([&](Rank& rank) {
    std::vector<MPI_Comm> pairs(kCycles), copies(kCycles);
    for (MPI_Comm& pair : pairs) PMPI_Comm_split(MPI_COMM_WORLD, rank.number / 2, 0, &pair);
    for (MPI_Comm& copy : copies) copy = rank.duplicate(MPI_COMM_WORLD);
    for (std::size_t cycle = 0; cycle < kCycles; ++cycle) {
      rank.shim.barrier(copies[cycle]);
      while (rank.number != 2 && left.load(std::memory_order_relaxed) <= static_cast<int>(cycle))
        std::this_thread::yield();
      rank.shim.comm_free(&copies[cycle]);
      if (rank.number == 2) left.store(static_cast<int>(cycle) + 1, std::memory_order_relaxed);
      rank.shim.barrier(pairs[cycle]);
      rank.shim.comm_free(&pairs[cycle]);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.num_open(), 0);
}

TEST(Stub, CommunicatorsAliveAtTheEnd) {
  constexpr int kRanks = 2, kComms = 40;
  StubTrial trial(kRanks);
  trial.run([&](Rank& rank) {
    std::vector<MPI_Comm> comms;
    for (int i = 0; i < kComms; ++i) comms.push_back(rank.duplicate(MPI_COMM_WORLD));
    for (const MPI_Comm comm : comms) rank.shim.barrier(comm);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said("engine " + std::to_string(kComms) + ", library 0"),
            kRanks);  // the world has had no barrier
  EXPECT_EQ(trial.num_open(), 0);
}

// ---- ends ----

TEST(StubEnd, FinalisedBehindTheShimsBack) {
  StubTrial trial(2);
  trial.run([&](Rank& rank) {
    rank.shim.barrier(MPI_COMM_WORLD);
    PMPI_Finalize();
  });
  EXPECT_EQ(trial.times_said(in_words(2, 2)), 1);
}

// As ranks in C and in Fortran do, with some libraries. The report is one all the same.
TEST(StubEnd, OneRankIsFinalisedBehindTheShimsBack) {
  StubTrial trial(3);
  trial.run([&](Rank& rank) {
    rank.shim.barrier(MPI_COMM_WORLD);
    if (rank.number == 1) {
      PMPI_Finalize();
    } else {
      rank.shim.finalize();
    }
  });
  EXPECT_EQ(trial.times_said(in_words(3, 3)), 1);
  EXPECT_EQ(trial.num_open(), 0);
}

TEST(StubEnd, SessionsWithoutAWorld) {
  StubTrial trial(2);
  const auto shared = std::make_shared<StubComm>(2);
  trial.run([&](Rank& rank) {
    rank.process.initialized = false;
    MPI_Session first, second;
    rank.shim.session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first);
    rank.shim.session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
    MPI_Comm comm = rank.process.add(shared, rank.number);
    rank.shim.barrier(comm);
    rank.shim.session_finalize(&second);
    rank.shim.barrier(comm);
    rank.shim.comm_free(&comm);
    rank.shim.session_finalize(&first);
  });
  EXPECT_EQ(trial.times_said("engine 2, library 0"), 2);
  EXPECT_EQ(trial.num_open(), 0);
}

}  // namespace
}  // namespace hierbar::test

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meetings of leaders, in the whole shim over an MPI library of threads.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "bench/common/random.hpp"
#include "mpi/between/trial.hpp"
#include "oracles.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

class StubMeetings : public ::testing::TestWithParam<const char*> {};

// Barriers of the world and of a duplicate, with several ranks on a node and with one on each.
TEST_P(StubMeetings, OrderPlainMemoryWithoutTheLibrarysBarrier) {
  constexpr int kRounds = 40;
  for (const auto& [num_ranks, num_nodes] :
       {std::pair{7, "3"}, std::pair{5, "5"}, std::pair{2, "2"}, std::pair{9, "8"}}) {
    StubTrial trial(num_ranks, {{"HIERBAR_FAKE_NODES", num_nodes},
                                {"HIERBAR_MPI_MEETING", GetParam()},
                                {"HIERBAR_NETWORK", "off"}});
    PlainBoard board(num_ranks);
    std::atomic<int> wrong{0};
    trial.run([&](Rank& rank) {
      MPI_Comm twin = rank.duplicate(MPI_COMM_WORLD);
      for (int round = 1; round <= kRounds; ++round) {
        wrong += board.check(rank, round % 3 == 0 ? twin : MPI_COMM_WORLD, rank.number, round);
      }
      rank.shim.comm_free(&twin);
      rank.shim.finalize();
    });
    EXPECT_EQ(wrong, 0) << GetParam() << ' ' << num_ranks;
    EXPECT_EQ(trial.num_library_barriers(), 0) << GetParam() << ' ' << num_ranks;
    EXPECT_EQ(trial.num_open(), 0) << GetParam() << ' ' << num_ranks;
    EXPECT_EQ(trial.num_left_over(), 0U) << GetParam() << ' ' << num_ranks;
    EXPECT_EQ(trial.times_said("engine " + std::to_string(2 * kRounds * num_ranks) + ", library 0"),
              1);
  }
}

// Barriers of random parts of the world, whose leaders are other ranks each time.
TEST_P(StubMeetings, OrderRandomSubcommunicators) {
  constexpr int kRanks = 8, kRounds = 8, kColours = 3;
  StubTrial trial(kRanks, {{"HIERBAR_FAKE_NODES", "5"},
                           {"HIERBAR_MPI_MEETING", GetParam()},
                           {"HIERBAR_NETWORK", "off"}});
  std::vector<PlainBoard> boards(std::size_t{kRounds} * kColours, PlainBoard(kRanks));
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int round = 0; round < kRounds; ++round) {
      const auto draw = [&](int number) {
        return mix(static_cast<std::uint64_t>(round * kRanks + number));
      };
      const auto colour = static_cast<int>(draw(rank.number) % kColours);
      MPI_Comm part;
      PMPI_Comm_split(MPI_COMM_WORLD, colour, static_cast<int>(draw(rank.number) >> 40), &part);
      int seat = 0, size = 0;
      PMPI_Comm_rank(part, &seat);
      PMPI_Comm_size(part, &size);
      PlainBoard& board = boards[static_cast<std::size_t>(round * kColours + colour)];
      for (int i = 1; i <= 10; ++i) wrong += board.check(rank, part, seat, i, size);
      rank.shim.comm_free(&part);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_open(), 0);
  EXPECT_EQ(trial.num_left_over(), 0U);
}

// More communicators with the same leaders than have the library's collectives, and threads of each
// rank in barriers of all of them at once. Those that are made later use what is left by those
// before.
TEST_P(StubMeetings, KeepCommunicatorsWithTheSameLeadersApart) {
  constexpr int kRanks = 4, kThreads = 3, kComms = 12, kPasses = 6;
  StubTrial trial(kRanks, {{"HIERBAR_FAKE_NODES", "2"},
                           {"HIERBAR_MPI_MEETING", GetParam()},
                           {"HIERBAR_NETWORK", "off"}});
  std::vector<PlainBoard> boards(kThreads, PlainBoard(kRanks));
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<MPI_Comm> comms;
      for (int i = 0; i < kComms; ++i) {
        comms.push_back(rank.duplicate(MPI_COMM_WORLD));
        rank.shim.barrier(comms.back());
      }
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
          rank.process.make_current();
          int round = repeat * kPasses * kComms;
          for (int pass = 0; pass < kPasses; ++pass) {
            for (int i = thread; i < kComms; i += kThreads)
              wrong += boards[static_cast<std::size_t>(thread)].check(
                  rank, comms[static_cast<std::size_t>(i)], rank.number, ++round);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (MPI_Comm& comm : comms) rank.shim.comm_free(&comm);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_library_barriers(), 0);
  EXPECT_EQ(trial.num_open(), 0);
  EXPECT_EQ(trial.num_left_over(), 0U);
}

// One rank comes only after each of the others has looked for messages many times.
TEST_P(StubMeetings, WaitForALateLeader) {
  constexpr int kRanks = 5;
  StubTrial trial(kRanks, {{"HIERBAR_FAKE_NODES", "5"},
                           {"HIERBAR_MPI_MEETING", GetParam()},
                           {"HIERBAR_NETWORK", "off"}});
  PlainBoard board(kRanks);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    for (int late = 0; late < kRanks; ++late) {
      rank.shim.barrier(MPI_COMM_WORLD);
      rank.process.obey({});  // counts from here
      PMPI_Barrier(MPI_COMM_WORLD);
      for (int other = 0; rank.number == late && other < kRanks; ++other) {
        while (other != late && trial.rank(other).process.num_calls()["Testall"] < 60)
          std::this_thread::yield();
      }
      wrong += board.check(rank, MPI_COMM_WORLD, rank.number, late + 1);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_left_over(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, StubMeetings,
                         ::testing::Values("linear", "double-ring", "recursive-doubling", "bruck",
                                           "dissemination:3", "tree", "tree:3", "combining-tree:3"),
                         [](const auto& schedule) {
                           std::string name = schedule.param;
                           for (char& c : name) c = c == '-' || c == ':' ? '_' : c;
                           return name;
                         });

TEST(StubMeeting, WithoutAChoiceOneRankForEachNodeStaysWithTheLibrary) {
  constexpr int kRanks = 3;
  StubTrial trial(kRanks, {{"HIERBAR_FAKE_NODES", "3"}, {"HIERBAR_MPI_MEETING", "library"}});
  trial.run([&](Rank& rank) {
    rank.shim.barrier(MPI_COMM_WORLD);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said("no shared memory 3"), 1);
  EXPECT_EQ(trial.num_library_barriers(), kRanks);
}

TEST(StubMeeting, ARankThatDiffersIsReportedAndNobodyHangs) {
  constexpr int kRanks = 4;
  StubTrial trial(
      kRanks,
      {{"HIERBAR_FAKE_NODES", "4"}, {"HIERBAR_MPI_MEETING", "tree:2"}, {"HIERBAR_NETWORK", "off"}});
  expect_that_a_rank_that_differs_is_reported(trial, kRanks, "HIERBAR_MPI_MEETING", "tree:2",
                                              "linear");
}

// A send or receive that fails once is made again; a passing error parts nobody.
TEST(StubMeeting, APassingErrorOfOneMessageChangesNothing) {
  constexpr int kRanks = 5;
  for (const char* function : {"Irecv", "Isend"}) {
    StubTrial trial(kRanks, {{"HIERBAR_FAKE_NODES", "5"},
                             {"HIERBAR_MPI_MEETING", "dissemination:2"},
                             {"HIERBAR_NETWORK", "off"}});
    PlainBoard board(kRanks);
    std::atomic<int> wrong{0};
    trial.run([&](Rank& rank) {
      rank.shim.barrier(MPI_COMM_WORLD);  // sets up
      if (rank.number == 2) rank.process.obey({function, 3, false, false});
      for (int round = 1; round <= 10; ++round)
        wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
      rank.shim.finalize();
    });
    EXPECT_EQ(wrong, 0) << function;
    EXPECT_EQ(trial.num_open(), 0) << function;
  }
}

// Leader 2 cannot wait for leader 3, its child in the tree. Every barrier then fails in every
// leader, and none waits for a message that is never sent.
TEST(StubMeeting, ALeaderThatCannotWaitFailsTheMeetingForAll) {
  constexpr int kRanks = 4, kRounds = 10;
  StubTrial trial(
      kRanks,
      {{"HIERBAR_FAKE_NODES", "4"}, {"HIERBAR_MPI_MEETING", "tree:1"}, {"HIERBAR_NETWORK", "off"}});
  std::atomic<int> num_returned{0}, num_successes{0};
  trial.run([&](Rank& rank) {
    rank.shim.barrier(MPI_COMM_WORLD);  // sets up
    if (rank.number == 2) rank.process.obey({"Testall", 1, true, false});
    for (int round = 0; round < kRounds; ++round) {
      while (rank.number == 3 && num_returned < round * kRanks + 3) std::this_thread::yield();
      num_successes += rank.shim.barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
      ++num_returned;
      while (num_returned < (round + 1) * kRanks) std::this_thread::yield();
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(num_successes, 0);
  EXPECT_EQ(trial.num_open(), 0);
}

// Communicators that are freed past the shim leave at most a few of the leaders' behind, and none
// once a session has ended.
TEST(StubMeeting, LeavesFewCommunicatorsBehind) {
  constexpr int kRanks = 4, kCycles = 100;
  for (const bool has_session : {false, true}) {
    StubTrial trial(kRanks, {{"HIERBAR_FAKE_NODES", "2"}});
    std::atomic<int> most{0}, last{0};
    trial.run([&](Rank& rank) {
      MPI_Session session;
      if (has_session) rank.shim.session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
      rank.shim.barrier(MPI_COMM_WORLD);
      const std::size_t before = rank.process.seats.size();
      for (int i = 0; i < kCycles; ++i) {
        MPI_Comm comm = rank.duplicate(MPI_COMM_WORLD);
        rank.shim.barrier(comm);
        PMPI_Comm_free(&comm);
        const int left = static_cast<int>(rank.process.seats.size() - before);
        for (int seen = most; left > seen && !most.compare_exchange_weak(seen, left);) {
        }
      }
      if (has_session) rank.shim.session_finalize(&session);
      last += static_cast<int>(rank.process.seats.size() - before);
      rank.shim.finalize();
    });
    EXPECT_LE(most, 9) << has_session;
    if (has_session) {
      EXPECT_EQ(last, 0);
    }
    EXPECT_EQ(trial.times_said("library 0"), 1);
  }
}

// A file with costs that cannot be read is named once, and the trial takes place.
TEST(StubMeeting, ABadNetworkFileIsReported) {
  StubTrial trial(3, {{"HIERBAR_FAKE_NODES", "3"},
                      {"HIERBAR_MPI_MEETING", "auto"},
                      {"HIERBAR_NETWORK", "/no/such/file"}});
  trial.run([&](Rank& rank) {
    for (std::size_t i = 0; i < 2 * mpi::Trial::kMostMeetings; ++i)
      rank.shim.barrier(MPI_COMM_WORLD);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said("network '/no/such/file' ignored: "), 1);
  EXPECT_EQ(trial.times_said("HIERBAR_NETWORK=off"), 1);
  EXPECT_GE(trial.times_said("trial: library "), 1);
}

}  // namespace
}  // namespace hierbar::test

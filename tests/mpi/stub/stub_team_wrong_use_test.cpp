// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wrong use of hierbar/mpi.h: an error code for each cause, and the team goes on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include "oracles.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

// Whether the kernel has put this thread of the process to sleep (proc(5), after the name).
bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  return stat.find(") S", stat.rfind(')')) != std::string::npos;
}

enum class Other { kAnywhere, kWaits };

// Two ranks with a team of two threads each. `body` runs in the first thread of each rank, when all
// four have been in a barrier; then they are in one more. The other thread may be in that one
// already, or it waits there: until it sleeps nobody can know that it has come.
void with_team(StubTrial& trial, const std::function<void(Rank&, hierbar_team)>& body,
               Other other = Other::kAnywhere) {
  trial.run([&](Rank& rank) {
    hierbar_team team;
    ASSERT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 2, &team), MPI_SUCCESS);
    std::atomic<pid_t> second{0};
    run_threads(rank, 2, [&](int thread) {
      EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
      EXPECT_EQ(rank.shim.team_barrier(team, thread), MPI_SUCCESS);
      if (thread == 1) second = gettid();
      while (thread == 0 && other == Other::kWaits && !is_asleep(second)) sched_yield();
      if (thread == 0) body(rank, team);
      EXPECT_EQ(rank.shim.team_barrier(team, thread), MPI_SUCCESS);
    });
    EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
    rank.shim.finalize();
  });
}

TEST(StubTeamWrongUse, AnIndexOutOfRange) {
  StubTrial trial(2);
  with_team(trial, [](Rank& rank, hierbar_team team) {
    for (const int thread : {-1, 2, 1 << 30}) {
      EXPECT_EQ(rank.shim.team_join(team, thread), MPI_ERR_RANK);
      EXPECT_EQ(rank.shim.team_barrier(team, thread), MPI_ERR_RANK);
    }
  });
  EXPECT_GE(trial.times_said("is out of range; allowed are the threads 0 to 1"), 2);
}

TEST(StubTeamWrongUse, JoinedTwice) {
  StubTrial trial(2);
  with_team(trial, [](Rank& rank, hierbar_team team) {
    EXPECT_EQ(rank.shim.team_join(team, 0), MPI_SUCCESS);
    EXPECT_EQ(rank.shim.team_join(team, 0), MPI_ERR_OTHER);
  });
  EXPECT_EQ(trial.times_said("hierbar_team_join: thread 0 of rank 1 has already joined, and has "
                             "not called a barrier since"),
            1);
}

TEST(StubTeamWrongUse, JoinedWhileAnotherThreadWaits) {
  StubTrial trial(2);
  with_team(
      trial,
      [](Rank& rank, hierbar_team team) { EXPECT_EQ(rank.shim.team_join(team, 1), MPI_ERR_OTHER); },
      Other::kWaits);
}

TEST(StubTeamWrongUse, NotJoined) {
  StubTrial trial(2);
  with_team(trial, [](Rank& rank, hierbar_team team) {
    std::thread stranger([&] {
      rank.process.make_current();
      EXPECT_EQ(rank.shim.team_barrier(team, 0), MPI_ERR_OTHER);
    });
    stranger.join();
    EXPECT_EQ(rank.shim.team_barrier(team, 1), MPI_ERR_OTHER);
  });
  EXPECT_EQ(trial.times_said(
                "hierbar_team_barrier: thread 0 of rank 0 was not joined by the calling thread"),
            1);
}

TEST(StubTeamWrongUse, FreedWhileOthersWait) {
  StubTrial trial(2);
  const auto free_early = [](Rank& rank, hierbar_team team) {
    hierbar_team same = team;
    EXPECT_EQ(rank.shim.team_free(&same), MPI_ERR_PENDING);
    EXPECT_EQ(same, team);
  };
  with_team(trial, free_early, Other::kWaits);
}

TEST(StubTeamWrongUse, NoTeam) {
  StubTrial trial(2);
  trial.run([](Rank& rank) {
    hierbar_team team, none = HIERBAR_TEAM_NULL,
                       garbage = reinterpret_cast<hierbar_team>(0x7fff12345678);
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 1, &team), MPI_SUCCESS);
    hierbar_team freed = team;
    EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
    EXPECT_EQ(team, HIERBAR_TEAM_NULL);
    // Its place is in use again.
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 1, &team), MPI_SUCCESS);
    EXPECT_NE(team, freed);
    for (hierbar_team wrong : {none, garbage, freed}) {
      EXPECT_EQ(rank.shim.team_join(wrong, 0), MPI_ERR_ARG);
      EXPECT_EQ(rank.shim.team_barrier(wrong, 0), MPI_ERR_ARG);
      EXPECT_EQ(rank.shim.team_free(&wrong), MPI_ERR_ARG);
    }
    EXPECT_EQ(rank.shim.team_free(nullptr), MPI_ERR_ARG);
    rank.shim.finalize();
    EXPECT_EQ(rank.shim.team_barrier(team, 0), MPI_ERR_ARG);
  });
  // Each of the two ranks says it once, and not in every step.
  EXPECT_EQ(trial.times_said("hierbar_team_join: not a valid team"), 2);
  EXPECT_EQ(trial.times_said("hierbar_team_barrier: not a valid team"), 2);
}

TEST(StubTeamWrongUse, ThreadLevelTooLow) {
  StubTrial trial(2, {}, MPI_THREAD_SINGLE);
  trial.run([](Rank& rank) {
    hierbar_team team;
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 2, &team), MPI_ERR_OTHER);
    EXPECT_EQ(team, HIERBAR_TEAM_NULL);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said(
                "the thread level is MPI_THREAD_SINGLE in rank 0; ask MPI_Init_thread() for"),
            1);
}

TEST(StubTeamWrongUse, Thread0IsNotTheMainThread) {
  StubTrial trial(2, {}, MPI_THREAD_FUNNELED);
  with_team(trial, [](Rank& rank, hierbar_team team) {
    std::thread stranger([&] {
      rank.process.make_current();
      EXPECT_EQ(rank.shim.team_join(team, 0), MPI_ERR_OTHER);
    });
    stranger.join();
  });
}

// One rank's wrong argument is an error in all ranks.
TEST(StubTeamWrongUse, BadArgumentsOfOneRank) {
  StubTrial trial(3);
  trial.run([](Rank& rank) {
    hierbar_team team;
    for (const int count : {0, -5, HIERBAR_TEAM_MAX_THREADS + 1}) {
      EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, rank.number == 1 ? count : 2, &team),
                MPI_ERR_COUNT);
      EXPECT_EQ(team, HIERBAR_TEAM_NULL);
    }
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 2, rank.number == 2 ? nullptr : &team),
              MPI_ERR_ARG);
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_NULL, 2, &team), MPI_ERR_COMM);
    MPI_Comm between = rank.process.add(std::make_shared<StubComm>(1, true), 0);
    EXPECT_EQ(rank.shim.team_create(between, 2, &team), MPI_ERR_COMM);
    rank.shim.comm_free(&between);
    rank.shim.finalize();
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 2, &team), MPI_ERR_OTHER);
  });
  EXPECT_EQ(
      trial.times_said("hierbar_team_create: num_threads is -5 in rank 1; allowed: 1 to 65536"), 1);
  EXPECT_EQ(trial.num_open(), 0);
}

TEST(StubTeamWrongUse, TheCommunicatorIsFreedBeforeTheTeam) {
  StubTrial trial(2);
  trial.run([](Rank& rank) {
    MPI_Comm copy = rank.duplicate(MPI_COMM_WORLD);
    hierbar_team team;
    EXPECT_EQ(rank.shim.team_create(copy, 1, &team), MPI_SUCCESS);
    EXPECT_EQ(rank.shim.team_join(team, 0), MPI_SUCCESS);
    EXPECT_EQ(rank.shim.team_barrier(team, 0), MPI_SUCCESS);
    rank.shim.comm_free(&copy);
    EXPECT_EQ(rank.shim.team_barrier(team, 0), MPI_ERR_COMM);
    EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
    rank.shim.finalize();
  });
}

TEST(StubTeamWrongUse, MoreTeamsThanThereIsRoomFor) {
  StubTrial trial(1, {}, MPI_THREAD_FUNNELED);
  trial.run([](Rank& rank) {
    std::vector<hierbar_team> teams(1024);
    for (hierbar_team& team : teams)
      EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 1, &team), MPI_SUCCESS);
    hierbar_team another;
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 1, &another), MPI_ERR_NO_MEM);
    EXPECT_EQ(rank.shim.team_free(&teams[500]), MPI_SUCCESS);
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, 1, &another), MPI_SUCCESS);
    rank.shim.finalize();  // which ends all of them
  });
}

}  // namespace
}  // namespace hierbar::test

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of all threads of all ranks, in the whole shim over an MPI library of threads.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/common/random.hpp"
#include "oracles.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

struct Shape {
  const char* name;
  std::vector<int> threads;
  const char* num_nodes;
  int thread_level;
};

class StubTeams : public ::testing::TestWithParam<Shape> {
 protected:
  int num_ranks() const { return static_cast<int>(GetParam().threads.size()); }
  std::vector<StubTrial::Setting> settings() const {
    return {{"HIERBAR_FAKE_NODES", GetParam().num_nodes}};
  }

  // A rank's part in a team whose threads all join and run body(team, thread).
  template <class Body>
  static void run_team(Rank& rank, const Body& body) {
    hierbar_team team;
    const int num_threads = GetParam().threads[static_cast<std::size_t>(rank.number)];
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, num_threads, &team), MPI_SUCCESS);
    run_threads(rank, num_threads, [&](int thread) {
      EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
      body(team, thread);
    });
    EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
    rank.shim.finalize();
  }
};

TEST_P(StubTeams, OrderPlainMemory) {
  constexpr int kRounds = 60;
  StubTrial trial(num_ranks(), settings(), GetParam().thread_level);
  PlainWords words(GetParam().threads);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    run_team(rank, [&](hierbar_team team, int thread) {
      for (int round = 1; round <= kRounds; ++round)
        wrong += words.check(rank, team, thread, round);
    });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said("engine " + std::to_string(2 * kRounds * num_ranks()) + ", library 0"),
            1);
  EXPECT_EQ(trial.num_open(), 0);
}

// Allreduces and bcasts order plain memory as barriers do, and have the right values.
TEST_P(StubTeams, SumAndSpread) {
  constexpr int kRounds = 30;
  StubTrial trial(num_ranks(), settings(), GetParam().thread_level);
  PlainWords words(GetParam().threads);
  const int num_members = std::accumulate(GetParam().threads.begin(), GetParam().threads.end(), 0);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    run_team(rank, [&](hierbar_team team, int thread) {
      std::vector<long> values(600);  // more than a piece
      const auto collective = [&](int round) {
        const int count = round % 8 == 0 ? 600 : round % 8;
        if (round % 3 == 0) {
          const bool brings = rank.number == num_ranks() - 1 && thread == 0;
          values.assign(values.size(), brings ? round : -1);
          const int status = rank.shim.team_bcast(team, thread, values.data(), count, MPI_LONG,
                                                  num_ranks() - 1, 0);
          for (int i = 0; i < count; ++i) wrong += values[static_cast<std::size_t>(i)] != round;
          return status;
        }
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = round + static_cast<long>(i);
        const int status = rank.shim.team_allreduce(team, thread, values.data(), values.data(),
                                                    count, MPI_LONG, MPI_SUM);
        for (int i = 0; i < count; ++i)
          wrong += values[static_cast<std::size_t>(i)] != num_members * (round + long{i});
        return status;
      };
      for (int round = 1; round <= kRounds; ++round) {
        if (round % 10 == 0) {
          EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
        }
        wrong += words.check(rank.number, thread, round, [&] { return collective(round); });
      }
    });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_open(), 0);
}

// Some threads join again between barriers, and new ones take the numbers over.
TEST_P(StubTeams, JoinAgain) {
  constexpr int kRounds = 40, kCrews = 3;
  StubTrial trial(num_ranks(), settings(), GetParam().thread_level);
  PlainWords words(GetParam().threads);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    hierbar_team team;
    const int num_threads = GetParam().threads[static_cast<std::size_t>(rank.number)];
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, num_threads, &team), MPI_SUCCESS);
    for (int crew = 0; crew < kCrews; ++crew) {
      run_threads(rank, num_threads, [&](int thread) {
        Random random(static_cast<std::uint64_t>(100 * rank.number + 10 * thread + crew));
        EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
        for (int round = 1; round <= kRounds; ++round) {
          wrong += words.check(rank, team, thread, crew * kRounds + round);
          // Not at the end: a number that has joined and been in no barrier since cannot be taken
          // over.
          if (round == kRounds || !random.one_in(4)) continue;
          EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
        }
      });
    }
    EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_open(), 0);
}

// Two at a time, and again and again.
TEST_P(StubTeams, ComeAndGo) {
  constexpr int kCycles = 15;
  StubTrial trial(num_ranks(), settings(), GetParam().thread_level);
  trial.run([&](Rank& rank) {
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      const int num_threads = 1 + (cycle + rank.number) % 3;
      hierbar_team teams[2];
      for (hierbar_team& team : teams)
        EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, num_threads, &team), MPI_SUCCESS);
      run_threads(rank, num_threads, [&](int thread) {
        for (hierbar_team team : teams) EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
        for (int i = 0; i < 4; ++i)
          EXPECT_EQ(rank.shim.team_barrier(teams[i % 2], thread), MPI_SUCCESS);
      });
      for (hierbar_team& team : teams) EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
    }
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.num_open(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StubTeams,
    ::testing::Values(Shape{"one_by_two", {2}, "1", MPI_THREAD_FUNNELED},
                      Shape{"two_by_one", {1, 1}, "1", MPI_THREAD_FUNNELED},
                      Shape{"two_by_two", {2, 2}, "1", MPI_THREAD_MULTIPLE},
                      Shape{"uneven_in_turn", {1, 4, 2}, "1", MPI_THREAD_SERIALIZED},
                      Shape{"two_nodes", {2, 1, 3, 2}, "2", MPI_THREAD_MULTIPLE},
                      Shape{"two_nodes_in_turn", {2, 2, 2, 2}, "2", MPI_THREAD_SERIALIZED},
                      Shape{"three_nodes_one_alone", {3, 2, 1, 2, 2}, "3", MPI_THREAD_FUNNELED}),
    [](const auto& shape) { return shape.param.name; });

// Whatever keeps the engine away, the same calls work.
void expect_work(const std::vector<StubTrial::Setting>& settings, const std::string& reason) {
  constexpr int kRounds = 30;
  const std::vector<int> threads = {2, 6, 1};
  StubTrial trial(3, settings);
  PlainWords words(threads);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    hierbar_team team;
    const int num_threads = threads[static_cast<std::size_t>(rank.number)];
    EXPECT_EQ(rank.shim.team_create(MPI_COMM_WORLD, num_threads, &team), MPI_SUCCESS) << reason;
    run_threads(rank, num_threads, [&](int thread) {
      EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
      for (int round = 1; round <= kRounds; ++round)
        wrong += words.check(rank, team, thread, round);
    });
    EXPECT_EQ(rank.shim.team_free(&team), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0) << reason;
  EXPECT_EQ(trial.num_library_barriers(), 3 * 2 * kRounds) << reason;
  EXPECT_GE(trial.times_said(reason + " "), 1) << reason;
}

TEST(StubTeamsWithoutTheEngine, Work) {
  expect_work({{"HIERBAR_MPI", "off"}}, "off");
  expect_work({{"HIERBAR_FAKE_NODES", "3"}}, "no shared memory");
  expect_work({{"MPIR_CVAR_ENABLE_FT", "1"}}, "fault tolerance");
}

// In every rank, and in each of the calls: nobody hangs, and either all have a team or none has.
TEST(StubTeamsCreation, AFailingCallNeverPartsTheRanks) {
  // As many as there are after the communicator's set-up.
  for (const auto& [function, num_calls] : {std::pair{"Allgather", 2}, std::pair{"Allreduce", 4}}) {
    for (int rank_with_fault = 0; rank_with_fault < 3; ++rank_with_fault) {
      for (int call = 1; call <= num_calls; ++call) {
        const StubScript script{function, call, false, true};
        StubTrial trial(3);
        std::atomic<int> num_made{0};
        trial.run([&](Rank& rank) {
          rank.shim.barrier(MPI_COMM_WORLD);
          if (rank.number == rank_with_fault) rank.process.obey(script);
          hierbar_team team;
          const int status = rank.shim.team_create(MPI_COMM_WORLD, 2, &team);
          rank.process.obey({});
          num_made += status == MPI_SUCCESS;
          EXPECT_EQ(status == MPI_SUCCESS, team != HIERBAR_TEAM_NULL);
          if (status == MPI_SUCCESS) {
            run_threads(rank, 2, [&](int thread) {
              EXPECT_EQ(rank.shim.team_join(team, thread), MPI_SUCCESS);
              EXPECT_EQ(rank.shim.team_barrier(team, thread), MPI_SUCCESS);
            });
          }
          rank.shim.finalize();
        });
        EXPECT_TRUE(num_made == 0 || num_made == 3)
            << function << " " << call << " in rank " << rank_with_fault;
      }
    }
  }
}

}  // namespace
}  // namespace hierbar::test

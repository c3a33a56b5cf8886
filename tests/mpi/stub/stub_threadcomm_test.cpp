// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI_Barrier on MPICH's communicators of threads, in the whole shim over an MPI library of
// threads.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "oracles.hpp"
#include "stub_mpi.hpp"
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

MPI_Comm make(Rank& rank, MPI_Comm comm, int num_threads) {
  MPI_Comm made;
  EXPECT_EQ(rank.shim.threadcomm_init(comm, num_threads, &made), MPI_SUCCESS);
  return made;
}

// A parallel region: barriers on the communicator and on a duplicate take turns. Returns the number
// of wrong words.
int run_region(Rank& rank, MPI_Comm comm, PlainWords& words, int num_threads, int num_rounds,
               int first_round) {
  std::atomic<int> wrong{0};
  run_threads(rank, num_threads, [&](int thread) {
    EXPECT_EQ(rank.shim.threadcomm_start(comm), MPI_SUCCESS);
    MPI_Comm copy;
    EXPECT_EQ(rank.shim.comm_dup(comm, &copy), MPI_SUCCESS);
    int number = 0;
    for (int round = first_round; round < first_round + num_rounds; ++round) {
      wrong += words.check(rank.number, thread, round,
                           [&] { return rank.shim.barrier(number++ % 3 == 0 ? copy : comm); });
    }
    EXPECT_EQ(rank.shim.comm_free(&copy), MPI_SUCCESS);
    EXPECT_EQ(rank.shim.threadcomm_finish(comm), MPI_SUCCESS);
  });
  return wrong;
}

class StubThreadcomms : public ::testing::TestWithParam<Shape> {
 protected:
  // Otherwise the leaders of the nodes meet in the library's barrier.
  bool has_one_node() const { return std::string(GetParam().num_nodes) == "1"; }
  int num_ranks() const { return static_cast<int>(GetParam().threads.size()); }
  int threads_of(const Rank& rank) const {
    return GetParam().threads[static_cast<std::size_t>(rank.number)];
  }
  StubTrial make_trial() const {
    return {num_ranks(), {{"HIERBAR_FAKE_NODES", GetParam().num_nodes}}, GetParam().thread_level};
  }
};

// The threads of the second region are other ones, but for the first.
TEST_P(StubThreadcomms, OrderPlainMemory) {
  constexpr int kRounds = 40, kRegions = 2;
  StubTrial trial = make_trial();
  PlainWords words(GetParam().threads);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    MPI_Comm comm = make(rank, MPI_COMM_WORLD, threads_of(rank));
    for (int region = 0; region < kRegions; ++region) {
      wrong += run_region(rank, comm, words, threads_of(rank), kRounds, 1 + region * kRounds);
      // The ranks' own, between the threads'.
      EXPECT_EQ(rank.shim.barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    }
    EXPECT_EQ(rank.shim.threadcomm_free(&comm), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  const int of_ranks = num_ranks() > 1 ? kRegions * num_ranks() : 0;
  EXPECT_EQ(
      trial.times_said("engine " + std::to_string(2 * kRounds * kRegions * num_ranks() + of_ranks) +
                       ", library "),
      1);
  if (has_one_node()) {
    EXPECT_EQ(trial.num_library_barriers(), of_ranks == 0 ? kRegions : 0);
  }
  EXPECT_EQ(trial.num_open(), 0);
}

// Two of them in one region, and one after the other, on a communicator that is gone.
TEST_P(StubThreadcomms, ComeAndGo) {
  constexpr int kCycles = 8;
  StubTrial trial = make_trial();
  trial.run([&](Rank& rank) {
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      const int num_threads = 1 + (cycle + rank.number) % 3;
      MPI_Comm parent;
      EXPECT_EQ(rank.shim.comm_dup(MPI_COMM_WORLD, &parent), MPI_SUCCESS);
      MPI_Comm comms[2] = {make(rank, parent, num_threads),
                           make(rank, MPI_COMM_WORLD, num_threads)};
      EXPECT_EQ(rank.shim.comm_free(&parent), MPI_SUCCESS);
      run_threads(rank, num_threads, [&](int) {
        for (MPI_Comm comm : comms) EXPECT_EQ(rank.shim.threadcomm_start(comm), MPI_SUCCESS);
        for (int i = 0; i < 4; ++i) EXPECT_EQ(rank.shim.barrier(comms[i % 2]), MPI_SUCCESS);
        for (MPI_Comm comm : comms) EXPECT_EQ(rank.shim.threadcomm_finish(comm), MPI_SUCCESS);
      });
      for (MPI_Comm& comm : comms) EXPECT_EQ(rank.shim.threadcomm_free(&comm), MPI_SUCCESS);
    }
    rank.shim.finalize();
  });
  if (has_one_node()) {
    EXPECT_EQ(trial.num_library_barriers(), 0);
  }
  EXPECT_EQ(trial.num_open(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StubThreadcomms,
    ::testing::Values(Shape{"one_by_two", {2}, "1", MPI_THREAD_SINGLE},
                      Shape{"two_by_one", {1, 1}, "1", MPI_THREAD_SINGLE},
                      Shape{"two_by_two", {2, 2}, "1", MPI_THREAD_FUNNELED},
                      Shape{"uneven", {1, 4, 2}, "1", MPI_THREAD_MULTIPLE},
                      Shape{"two_nodes", {2, 1, 3, 2}, "2", MPI_THREAD_MULTIPLE},
                      Shape{"two_nodes_single", {2, 2, 2, 2}, "2", MPI_THREAD_SINGLE}),
    [](const auto& shape) { return shape.param.name; });

// What keeps the engine away leaves the barriers to the library, in all threads.
void expect_library(const std::vector<StubTrial::Setting>& settings, const std::string& reason) {
  constexpr int kRounds = 20;
  const std::vector<int> threads = {2, 3, 1};
  StubTrial trial(3, settings, MPI_THREAD_SINGLE);
  PlainWords words(threads);
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    const int num_threads = threads[static_cast<std::size_t>(rank.number)];
    MPI_Comm comm = make(rank, MPI_COMM_WORLD, num_threads);
    wrong += run_region(rank, comm, words, num_threads, kRounds, 1);
    EXPECT_EQ(rank.shim.threadcomm_free(&comm), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0) << reason;
  EXPECT_EQ(trial.num_library_barriers(), 6 * 2 * kRounds) << reason;
  EXPECT_GE(trial.times_said(reason), 1) << reason;
  EXPECT_EQ(trial.num_open(), 0) << reason;
}

TEST(StubThreadcommsWithoutTheEngine, AreTheLibrarys) {
  expect_library({{"HIERBAR_MPI", "off"}}, "off ");
  expect_library(
      {{"MPIR_CVAR_ENABLE_FT", "1"}},
      "a threadcomm of stub: the MPI library's own barrier is used instead: fault tolerance");
}

// Each rank on a node of its own: the threads meet in ours, and the ranks in the library's.
TEST(StubThreadcommsWithoutTheEngine, MeetInTheLibraryWhereNothingIsShared) {
  constexpr int kRounds = 20;
  StubTrial trial(2, {{"HIERBAR_FAKE_NODES", "2"}}, MPI_THREAD_SINGLE);
  PlainWords words({2, 3});
  std::atomic<int> wrong{0};
  trial.run([&](Rank& rank) {
    const int num_threads = 2 + rank.number;
    MPI_Comm comm = make(rank, MPI_COMM_WORLD, num_threads);
    wrong += run_region(rank, comm, words, num_threads, kRounds, 1);
    EXPECT_EQ(rank.shim.threadcomm_free(&comm), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.num_library_barriers(), 2 * 2 * kRounds);
}

// One that is made past the shim, as Fortran's mpi_f08 does.
TEST(StubThreadcommsWithoutTheEngine, AreTheLibrarysIfTheShimHasNotSeenThem) {
  StubTrial trial(2);
  trial.run([&](Rank& rank) {
    MPI_Comm comm = make(rank, MPI_COMM_WORLD, 2);
    run_threads(rank, 2, [&](int) {
      EXPECT_EQ(PMPIX_Threadcomm_start(comm), MPI_SUCCESS);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(rank.shim.barrier(comm), MPI_SUCCESS);
      EXPECT_EQ(PMPIX_Threadcomm_finish(comm), MPI_SUCCESS);
    });
    EXPECT_EQ(rank.shim.threadcomm_free(&comm), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.num_library_barriers(), 2 * 2 * 5);
  EXPECT_EQ(trial.times_said("library 10 (threadcomm 10)"), 2);
}

TEST(StubThreadcommsUse, ADuplicateOutlivesWhatItWasMadeFrom) {
  StubTrial trial(2);
  trial.run([&](Rank& rank) {
    MPI_Comm comm = make(rank, MPI_COMM_WORLD, 2);
    run_threads(rank, 2, [&](int) {
      EXPECT_EQ(rank.shim.threadcomm_start(comm), MPI_SUCCESS);
      MPI_Comm copy, second;
      EXPECT_EQ(rank.shim.comm_dup(comm, &copy), MPI_SUCCESS);
      EXPECT_EQ(rank.shim.comm_dup(copy, &second), MPI_SUCCESS);
      EXPECT_EQ(rank.shim.threadcomm_finish(comm), MPI_SUCCESS);
      EXPECT_EQ(rank.shim.barrier(copy), MPI_SUCCESS);
      EXPECT_EQ(rank.shim.comm_free(&copy), MPI_SUCCESS);
      EXPECT_EQ(rank.shim.barrier(second), MPI_SUCCESS);
      EXPECT_EQ(rank.shim.comm_free(&second), MPI_SUCCESS);
    });
    EXPECT_EQ(rank.shim.threadcomm_free(&comm), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.num_library_barriers(), 0);
}

TEST(StubThreadcommsUse, MoreThreadsThanWereSaidAreAnError) {
  StubTrial trial(1);
  trial.run([&](Rank& rank) {
    MPI_Comm comm = make(rank, MPI_COMM_WORLD, 1);
    EXPECT_EQ(rank.shim.threadcomm_start(comm), MPI_SUCCESS);
    std::thread another([&] {
      rank.process.make_current();
      EXPECT_EQ(rank.shim.threadcomm_start(comm), MPI_ERR_OTHER);
      EXPECT_EQ(PMPIX_Threadcomm_finish(comm), MPI_SUCCESS);
    });
    another.join();
    EXPECT_EQ(rank.shim.barrier(comm), MPI_SUCCESS);
    EXPECT_EQ(rank.shim.threadcomm_finish(comm), MPI_SUCCESS);
    EXPECT_EQ(rank.shim.threadcomm_free(&comm), MPI_SUCCESS);
    rank.shim.finalize();
  });
  EXPECT_EQ(
      trial.times_said("MPIX_Threadcomm_start: more threads than MPIX_Threadcomm_init was given"),
      1);
}

// In every rank, and in each of the calls: nobody hangs, and the barriers are right.
TEST(StubThreadcommsCreation, AFailingCallNeverPartsTheRanks) {
  for (const auto& [function, num_calls] :
       {std::pair{"Comm_split", 1}, std::pair{"Allgather", 4}, std::pair{"Allreduce", 6}}) {
    for (int rank_with_fault = 0; rank_with_fault < 3; ++rank_with_fault) {
      for (int call = 1; call <= num_calls; ++call) {
        StubTrial trial(3);
        PlainWords words({2, 2, 2});
        std::atomic<int> wrong{0};
        trial.run([&](Rank& rank) {
          if (rank.number == rank_with_fault) rank.process.obey({function, call, false, true});
          MPI_Comm comm = make(rank, MPI_COMM_WORLD, 2);
          rank.process.obey({});
          wrong += run_region(rank, comm, words, 2, 3, 1);
          EXPECT_EQ(rank.shim.threadcomm_free(&comm), MPI_SUCCESS);
          rank.shim.finalize();
        });
        EXPECT_EQ(wrong, 0) << function << " " << call << " in rank " << rank_with_fault;
      }
    }
  }
}

}  // namespace
}  // namespace hierbar::test

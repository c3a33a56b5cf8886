// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the whole shim passes on to the MPI library, and why: over an MPI library of threads.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

void expect_all_passed_on(int num_ranks, const std::vector<StubTrial::Setting>& settings,
                          const std::string& reason) {
  constexpr int kBarriers = 5;
  StubTrial trial(num_ranks, settings);
  trial.run([&](Rank& rank) {
    for (int i = 0; i < kBarriers; ++i) rank.shim.barrier(MPI_COMM_WORLD);
    rank.shim.finalize();
  });
  const std::string count = std::to_string(kBarriers * num_ranks);
  EXPECT_EQ(trial.times_said("engine 0, library " + count + " (" + reason + " " + count + ")"), 1)
      << reason;
  EXPECT_EQ(trial.num_library_barriers(), kBarriers * num_ranks) << reason;
  EXPECT_EQ(trial.num_open(), 0) << reason;
}

TEST(StubVerdict, EveryRankComesToTheSame) {
  expect_all_passed_on(1, {}, "one rank");
  expect_all_passed_on(3, {{"HIERBAR_FAKE_NODES", "3"}}, "no shared memory");
  expect_all_passed_on(3, {{"MPIR_CVAR_ENABLE_FT", "1"}}, "fault tolerance");
}

TEST(StubVerdict, OffLeavesNothingBehind) {
  StubTrial trial(2, {{"HIERBAR_MPI", "off"}});
  trial.run([&](Rank& rank) {
    rank.shim.barrier(MPI_COMM_WORLD);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said("engine 0, library 1 (off 1)"), 2);
  EXPECT_EQ(trial.num_open(), 0);
}

TEST(StubVerdict, AnIntercommunicatorIsTheLibrarys) {
  StubTrial trial(2);
  trial.run([&](Rank& rank) {
    MPI_Comm between = rank.process.add(std::make_shared<StubComm>(1, true), 0);
    rank.shim.barrier(between);
    rank.shim.comm_free(&between);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said("engine 0, library 1 (intercommunicator 1)"), 2);
}

// Between two groups a rank that takes no part may give anything but the root and the communicator.
// None of it is asked for, which would be an error in some libraries.
TEST(StubVerdict, NothingIsAskedOfWhatMeansNothing) {
  constexpr int kBytes = 8;
  const auto no_type = handle_in<MPI_Datatype>(0x7777);
  const auto no_op = handle_in<MPI_Op>(0x7777);
  StubTrial trial(2, {kCollectives});
  trial.run([&](Rank& rank) {
    MPI_Comm between = rank.process.add(std::make_shared<StubComm>(2, true), 0);
    char in[kBytes] = {}, out[kBytes] = {};
    rank.process.obey({});
    for (const int count : {-1, 0, 1, kBytes}) {
      for (const MPI_Datatype type : {no_type, MPI_DATATYPE_NULL, MPI_BYTE}) {
        rank.shim.bcast(in, count, type, MPI_PROC_NULL, between);
        rank.shim.reduce(in, out, count, type, no_op, MPI_PROC_NULL, between);
        rank.shim.gather(in, count, type, out, count, no_type, MPI_PROC_NULL, between);
        rank.shim.scatter(in, count, no_type, out, count, type, MPI_PROC_NULL, between);
      }
    }
    std::map<std::string, int> calls = rank.process.num_calls();
    EXPECT_EQ(calls["Type_size"], 0);
    for (const char* name : {"Bcast", "Reduce", "Gather", "Scatter"})
      EXPECT_EQ(calls[name], 12) << name;
    rank.shim.comm_free(&between);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.num_open(), 0);
}

// Nor in a root of what MPI_IN_PLACE stands for, and in the others of what the root has of all.
TEST(StubVerdict, NothingIsAskedOfThePartsThatMeanNothing) {
  constexpr int kRanks = 3, kRounds = 4;
  const auto no_type = handle_in<MPI_Datatype>(0x7777);
  StubTrial trial(kRanks, {kCollectives});
  trial.run([&](Rank& rank) {
    rank.shim.barrier(MPI_COMM_WORLD);
    rank.process.obey({});
    for (int root = 0; root < kRounds; ++root) {
      char own = 1, all[kRanks] = {};
      const bool is_root = rank.number == root % kRanks;
      const void* const in = is_root ? MPI_IN_PLACE : &own;
      void* const out = is_root ? MPI_IN_PLACE : &own;
      const int own_count = is_root ? -5 : 1, all_count = is_root ? 1 : -3;
      const MPI_Datatype own_type = is_root ? no_type : MPI_BYTE;
      const MPI_Datatype all_type = is_root ? MPI_BYTE : no_type;
      rank.shim.gather(in, own_count, own_type, is_root ? all : nullptr, all_count, all_type,
                       root % kRanks, MPI_COMM_WORLD);
      rank.shim.scatter(is_root ? all : nullptr, all_count, all_type, out, own_count, own_type,
                        root % kRanks, MPI_COMM_WORLD);
      rank.shim.allgather(MPI_IN_PLACE, -5, no_type, all, 1, MPI_BYTE, MPI_COMM_WORLD);
      rank.shim.alltoall(MPI_IN_PLACE, -5, no_type, all, 1, MPI_BYTE, MPI_COMM_WORLD);
    }
    EXPECT_EQ(rank.process.num_calls()["Type_size"], 0);
    rank.shim.finalize();
  });
  for (const char* calls : {"gathers", "scatters", "allgathers", "alltoalls"})
    EXPECT_EQ(trial.times_said("mpi: " + in_words(calls, kRanks, kRounds * kRanks, 0)), 1) << calls;
  EXPECT_EQ(trial.num_open(), 0);
}

TEST(StubVerdict, ErrorsAreTheLibrarys) {
  StubTrial trial(2);
  trial.run([&](Rank& rank) {
    rank.shim.barrier(MPI_COMM_WORLD);
    EXPECT_EQ(rank.shim.barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    EXPECT_EQ(rank.shim.barrier(handle_in<MPI_Comm>(0x7777)), MPI_ERR_COMM);
    rank.shim.finalize();
    EXPECT_EQ(rank.shim.barrier(MPI_COMM_WORLD), MPI_ERR_COMM);
  });
  EXPECT_EQ(trial.num_open(), 0);
}

// The leaders cannot have a communicator: one rank says so, and what was claimed is given back.
TEST(StubFallback, TheLibraryIsOutOfCommunicators) {
  StubTrial trial(4, {{"HIERBAR_FAKE_NODES", "2"}});
  trial.run([&](Rank& rank) {
    rank.process.refuses_to_split = true;
    rank.shim.barrier(MPI_COMM_WORLD);
    rank.shim.barrier(MPI_COMM_WORLD);
    rank.shim.finalize();
  });
  EXPECT_EQ(trial.times_said("no communicator left for the leaders of the nodes; the MPI library's "
                             "own barrier is used"),
            1);
  EXPECT_EQ(trial.times_said(in_words(4, 0, "library 8 (no leader communicator 8)")), 1);
  EXPECT_EQ(trial.num_open(), 0);
}

// Where segments are full, others are made, on one node or on both.
TEST(StubFallback, AFullSegmentIsFollowedByAnother) {
  constexpr int kComms = 40, kRounds = 3;
  for (const auto& [num_ranks, num_nodes] :
       {std::pair{2, "1"}, std::pair{5, "2"}, std::pair{5, "3"}}) {
    StubTrial trial(num_ranks, {{"HIERBAR_SEGMENT_KIB", "8"}, {"HIERBAR_FAKE_NODES", num_nodes}});
    trial.run([&](Rank& rank) {
      std::vector<MPI_Comm> comms;
      for (int i = 0; i < kComms; ++i) comms.push_back(rank.duplicate(MPI_COMM_WORLD));
      for (int round = 0; round < kRounds; ++round) {
        for (const MPI_Comm comm : comms) rank.shim.barrier(comm);
      }
      rank.shim.barrier(MPI_COMM_WORLD);
      rank.shim.finalize();
    });
    EXPECT_EQ(trial.times_said("no shared memory is left"), 0);
    EXPECT_EQ(trial.times_said(in_words(num_ranks, num_ranks * (kComms * kRounds + 1))), 1);
    EXPECT_EQ(trial.num_open(), 0);
  }
}

// No segment has room for the ranks of all: one rank says so, and the next smaller communicator is
// served.
TEST(StubFallback, ManyRanksAreTooManyForASegment) {
  constexpr int kRanks = 9, kComms = 5;
  StubTrial trial(kRanks, {{"HIERBAR_SEGMENT_KIB", "4"}});
  trial.run([&](Rank& rank) {
    for (int i = 0; i < kComms; ++i) {
      MPI_Comm comm = rank.duplicate(MPI_COMM_WORLD);
      rank.shim.barrier(comm);
      rank.shim.comm_free(&comm);
    }
    EXPECT_EQ(rank.process.num_barriers, kComms);
    MPI_Comm part;
    PMPI_Comm_split(MPI_COMM_WORLD, rank.number % 3, 0, &part);
    rank.shim.barrier(part);
    EXPECT_EQ(rank.process.num_barriers, kComms);
    rank.shim.comm_free(&part);
    rank.shim.finalize();
  });
  EXPECT_EQ(
      trial.times_said("no shared memory is left for another communicator of 9 ranks on one node"),
      1);
  EXPECT_EQ(trial.num_open(), 0);
}

}  // namespace
}  // namespace hierbar::test

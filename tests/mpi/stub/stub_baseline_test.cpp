// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The baselines among the ranks of a node, in the whole shim over an MPI library of threads.

#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <tuple>
#include <vector>

#include "barrier/algorithm_names.hpp"
#include "bench/common/random.hpp"
#include "oracles.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

class StubBaselines : public ::testing::TestWithParam<std::string> {};

// On one node, on two, and on three of which one has a single rank, which meets alone.
TEST_P(StubBaselines, OrderPlainMemoryOfTheWorld) {
  constexpr int kRounds = 25;
  for (const auto& [num_ranks, num_nodes, num_alone] :
       {std::tuple{2, "1", 0}, {6, "1", 0}, {7, "2", 0}, {5, "3", 1}}) {
    StubTrial trial(num_ranks,
                    {{"HIERBAR_FAKE_NODES", num_nodes}, {"HIERBAR_ALGORITHM", GetParam().c_str()}});
    PlainBoard board(num_ranks);
    std::atomic<int> wrong{0};
    trial.run([&](Rank& rank) {
      for (int round = 1; round <= kRounds; ++round)
        wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
      rank.shim.finalize();
    });
    EXPECT_EQ(wrong, 0) << num_ranks << " on " << num_nodes;
    EXPECT_EQ(
        trial.times_said("engine " + std::to_string(2 * kRounds * num_alone) + ", baseline " +
                         std::to_string(2 * kRounds * (num_ranks - num_alone)) + ", library 0"),
        1);
    EXPECT_EQ(trial.num_open(), 0);
  }
}

// Random parts of the world, several alive at a time, in memory that is used again.
TEST_P(StubBaselines, OrderRandomSubcommunicators) {
  constexpr int kRanks = 7, kRounds = 6, kColours = 2;
  for (const char* num_nodes : {"1", "3"}) {
    StubTrial trial(kRanks,
                    {{"HIERBAR_FAKE_NODES", num_nodes}, {"HIERBAR_ALGORITHM", GetParam().c_str()}});
    std::vector<PlainBoard> boards(std::size_t{kRounds} * kColours, PlainBoard(kRanks));
    std::atomic<int> wrong{0};
    trial.run([&](Rank& rank) {
      std::vector<MPI_Comm> parts;
      for (int round = 0; round < kRounds; ++round) {
        const auto draw = mix(static_cast<std::uint64_t>(round * kRanks + rank.number));
        const auto colour = static_cast<int>(draw % kColours);
        MPI_Comm part;
        PMPI_Comm_split(MPI_COMM_WORLD, colour, static_cast<int>(draw >> 40), &part);
        int seat = 0, size = 0;
        PMPI_Comm_rank(part, &seat);
        PMPI_Comm_size(part, &size);
        PlainBoard& board = boards[static_cast<std::size_t>(round * kColours + colour)];
        for (int i = 1; i <= 10; ++i) wrong += board.check(rank, part, seat, i, size);
        parts.push_back(part);
        if (round % 2 != 0) rank.shim.comm_free(&parts.back());
      }
      rank.shim.finalize();
    });
    EXPECT_EQ(wrong, 0) << num_nodes;
    EXPECT_EQ(trial.num_open(), 0) << num_nodes;
  }
}

std::vector<std::string> baselines() {
  std::vector<std::string> names;
  for (const NamedAlgorithm& named : kAlgorithms)
    if (named.algorithm != Algorithm::kHier) names.emplace_back(named.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Algorithms, StubBaselines, ::testing::ValuesIn(baselines()),
                         [](const auto& trial) {
                           std::string name = trial.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(StubBaseline, ARankThatDiffersIsReportedAndRunsRank0s) {
  constexpr int kRanks = 4;
  StubTrial trial(kRanks, {{"HIERBAR_ALGORITHM", "mcs"}});
  expect_that_a_rank_that_differs_is_reported(trial, kRanks, "HIERBAR_ALGORITHM", "mcs",
                                              "dissemination");
}

}  // namespace
}  // namespace hierbar::test

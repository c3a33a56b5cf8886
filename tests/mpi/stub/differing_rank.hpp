// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "plain_board.hpp"
#include "stub_trial.hpp"

namespace hierbar::test {

// Expects that barriers hold and that one message is printed where rank 1 has another value of a
// variable than the trial sets, whose value in rank 0 counts. Rank 1 reads its settings first, while
// the variable has the other value.
inline void expect_that_a_rank_that_differs_is_reported(StubTrial& trial, int num_ranks, const std::string& variable,
                                                        const std::string& value, const std::string& other) {
  setenv(variable.c_str(), other.c_str(), 1);
  trial.run([](StubTrial::Rank& rank) {
    if (rank.number == 1) rank.shim.barrier(MPI_COMM_SELF);
  });
  setenv(variable.c_str(), value.c_str(), 1);
  PlainBoard board(num_ranks);
  std::atomic<int> wrong{0};
  trial.run([&](StubTrial::Rank& rank) {
    for (int round = 1; round <= 20; ++round) wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said(variable + ": '" + other + "' in rank 1 differs from rank 0's '" + value +
                             "', which is used in all ranks"),
            1);
}

}  // namespace hierbar::test

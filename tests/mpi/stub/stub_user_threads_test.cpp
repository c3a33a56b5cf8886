// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An MPI library that is built on Argobots: this program is the library, and has a function of
// Argobots.

#include <gtest/gtest.h>

#include "stub_trial.hpp"

extern "C" int ABT_thread_yield() { return 0; }

namespace hierbar::test {
namespace {

using Rank = StubTrial::Rank;

TEST(StubUserThreads, BarriersAreTheLibrarys) {
  constexpr int kBarriers = 5;
  StubTrial trial(3);
  trial.run([&](Rank& rank) {
    for (int i = 0; i < kBarriers; ++i) rank.shim.barrier(MPI_COMM_WORLD);
    MPI_Comm duplicate = rank.duplicate(MPI_COMM_WORLD);
    rank.shim.barrier(duplicate);
    rank.shim.comm_free(&duplicate);
    rank.shim.finalize();
  });
  EXPECT_GE(trial.times_said("is built on Argobots"), 1);
  EXPECT_EQ(trial.times_said("engine 0, library 6 (user-level threads 6)"), 3);
  EXPECT_EQ(trial.num_library_barriers(), 3 * (kBarriers + 1));
  EXPECT_EQ(trial.num_open(), 0);
}

}  // namespace
}  // namespace hierbar::test

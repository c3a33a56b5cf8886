// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "stub_trial.hpp"

// What trials check barriers with.
namespace hierbar::test {

// The oracle's words: plain, so that ThreadSanitizer sees it when a barrier does not order them.
class PlainBoard {
 public:
  explicit PlainBoard(int num_ranks) : words_(static_cast<std::size_t>(num_ranks)) {}

  // Two barriers; what everybody wrote before the first is read between them. `num_seats`: how many
  // write; 0: all. Returns the number of wrong words.
  int check(const StubTrial::Rank& rank, MPI_Comm comm, int seat, int round, int num_seats = 0) {
    words_[static_cast<std::size_t>(seat)].value = round;
    rank.shim.barrier(comm);
    int wrong = 0;
    for (std::size_t i = 0;
         i < (num_seats == 0 ? words_.size() : static_cast<std::size_t>(num_seats)); ++i) {
      wrong += words_[i].value != round;
    }
    rank.shim.barrier(comm);
    return wrong;
  }

 private:
  struct alignas(128) Line {
    int value = 0;
  };
  std::vector<Line> words_;
};

// A rank's threads. Thread 0 is the caller; all of them run the body with their number.
inline void run_threads(StubTrial::Rank& rank, int num_threads,
                        const std::function<void(int)>& body) {
  std::vector<std::thread> others;
  for (int thread = 1; thread < num_threads; ++thread) {
    others.emplace_back([&, thread] {
      rank.process.make_current();
      body(thread);
    });
  }
  body(0);
  for (std::thread& other : others) other.join();
}

// A word for each thread of each rank: plain, so that ThreadSanitizer sees it when a barrier does
// not order them.
class PlainWords {
 public:
  explicit PlainWords(const std::vector<int>& threads) {
    for (const int count : threads) {
      first_of_.push_back(words_.size());
      words_.resize(words_.size() + static_cast<std::size_t>(count));
    }
  }

  // Two barriers; what everybody wrote before the first is read between them. Returns the number of
  // wrong words.
  int check(const StubTrial::Rank& rank, hierbar_team team, int thread, int round) {
    return check(rank.number, thread, round, [&] { return rank.shim.team_barrier(team, thread); });
  }
  // `barrier` returns MPI's status.
  template <class Barrier>
  int check(int rank, int thread, int round, Barrier barrier) {
    words_[first_of_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(thread)].value =
        round;
    int wrong = barrier() != MPI_SUCCESS;
    for (const Line& line : words_) wrong += line.value != round;
    wrong += barrier() != MPI_SUCCESS;
    return wrong;
  }

 private:
  struct alignas(128) Line {
    int value = 0;
  };
  std::vector<Line> words_;
  std::vector<std::size_t> first_of_;
};

// Expects that barriers hold and that one message is printed where rank 1 has another value of a
// variable than the trial sets, whose value in rank 0 counts. Rank 1 reads its settings first,
// while the variable has the other value.
inline void expect_that_a_rank_that_differs_is_reported(StubTrial& trial, int num_ranks,
                                                        const std::string& variable,
                                                        const std::string& value,
                                                        const std::string& other) {
  setenv(variable.c_str(), other.c_str(), 1);
  trial.run([](StubTrial::Rank& rank) {
    if (rank.number == 1) rank.shim.barrier(MPI_COMM_SELF);
  });
  setenv(variable.c_str(), value.c_str(), 1);
  PlainBoard board(num_ranks);
  std::atomic<int> wrong{0};
  trial.run([&](StubTrial::Rank& rank) {
    for (int round = 1; round <= 20; ++round)
      wrong += board.check(rank, MPI_COMM_WORLD, rank.number, round);
    rank.shim.finalize();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trial.times_said(variable + ": '" + other + "' in rank 1 differs from rank 0's '" +
                             value + "', which is used in all ranks"),
            1);
}

}  // namespace hierbar::test

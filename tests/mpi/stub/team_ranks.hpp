// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "stub_trial.hpp"

namespace hierbar::test {

// A rank's threads. Thread 0 is the caller; all of them run the body with their number.
inline void run_threads(StubTrial::Rank& rank, int num_threads, const std::function<void(int)>& body) {
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
    words_[first_of_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(thread)].value = round;
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

}  // namespace hierbar::test

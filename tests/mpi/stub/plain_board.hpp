// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "stub_trial.hpp"

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
    for (std::size_t i = 0; i < (num_seats == 0 ? words_.size() : static_cast<std::size_t>(num_seats)); ++i) {
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

}  // namespace hierbar::test

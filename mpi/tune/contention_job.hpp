// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "network/contention/worker_plan.hpp"

namespace hierbar::mpi {

// This rank's place: on which node, and as which of its ranks.
struct Place {
  int node = 0;
  int local = 0;
};

// What contention_worker measures, and among whom.
struct Job {
  network::WorkerPlan plan;
  std::vector<Place> places;  // of all ranks
  int rank = 0;
  double end_s = 0;

  // The rank that is `local` on `node`; -1 if there is none.
  int rank_at(int node, int local) const;
  int ranks_on(int node) const;
};

// The places of all ranks of MPI_COMM_WORLD, which all call it.
std::vector<Place> find_places();

// The ranks of the i-th pair, by rank; -1 where there are too few.
struct Pair {
  int first = -1;
  int second = -1;
};

Pair pair_of(const Job& job, const network::WorkerChannel& channel, int index);

// How many pairs there can be.
int most_pairs(const Job& job, const network::WorkerChannel& channel);

// Why nothing can be measured; the same in all ranks. Empty if it can.
std::string refusal(const Job& job);

}  // namespace hierbar::mpi

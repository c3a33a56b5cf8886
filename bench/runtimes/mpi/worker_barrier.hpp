// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The barriers that mpi_barrier_worker measures, what its ranks agree on, and the figures of ranks
// that outnumber the cpus.

#include <mpi.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "bench/common/measured_program.hpp"

namespace hierbar::bench::mpi {

// A barrier of this process: the one that the program calls, which a preloaded library may serve,
// or the library's own.
struct Barrier {
  std::string name;
  int (*call)(MPI_Comm);
  double period_ns = 0;  // an estimate
  long batch = 1;        // number of barriers in a batch
  int num_batches = 0;
  std::map<std::string, std::vector<double>> samples;  // by figure
};

// By the library's own MPI_Allreduce.
inline std::vector<double> over_ranks(const std::vector<double>& values, MPI_Op operation) {
  std::vector<double> result(values.size());
  PMPI_Allreduce(values.data(), result.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                 operation, MPI_COMM_WORLD);
  return result;
}

inline double maximum(double value) { return over_ranks({value}, MPI_MAX).front(); }

// The time of a batch in this rank. The barrier before it makes all ranks begin together.
inline double time_batch(const Barrier& barrier, long count) {
  barrier.call(MPI_COMM_WORLD);
  const double start = now_ns();
  for (long i = 0; i < count; ++i) barrier.call(MPI_COMM_WORLD);
  return now_ns() - start;
}

// ---- ranks that outnumber the cpus ----
//
// What a barrier costs there depends on what the ranks did before it: an MPI library's own calls
// leave them spread over the cpus' time slices, and it takes many barriers until they follow each
// other closely. A short batch after such a call measures neither a program in a loop nor the first
// barrier, so each has a figure of its own.

constexpr int kMostChunks = 10;    // of a loop; each lasts several time slices
constexpr long kFewestInLoop = 3;  // barriers, however long one takes
constexpr int kMostVisits = 1000;  // barriers that follow something else
constexpr int kFewestVisits = 3;

// The number of barriers that fill the budget in one loop. All ranks come to the same number. The
// trials grow until one is long enough to be mostly loop.
inline long barriers_in_loop(const Barrier& barrier, double budget_ns) {
  constexpr long kLargestTrial = 1 << 22;
  for (long count = 1;; count *= 4) {
    const double elapsed_ns = std::max(1.0, maximum(time_batch(barrier, count)));
    if (elapsed_ns < budget_ns / 4 && count < kLargestTrial) continue;
    return std::max(kFewestInLoop,
                    static_cast<long>(static_cast<double>(count) * budget_ns / elapsed_ns));
  }
}

// Barriers back to back, and nothing else in between: ns from one to the next, for each chunk of
// the loop. It is the mean over the ranks, since the end of a chunk is a moment of each rank.
inline std::vector<double> time_loop(const Barrier& barrier, double budget_ns) {
  const long count = barriers_in_loop(barrier, budget_ns);
  const long num_chunks = std::min<long>(kMostChunks, count);
  const long chunk = count / num_chunks;
  std::vector<double> samples;
  time_batch(barrier, chunk);
  double start = now_ns();
  for (long i = 0; i < num_chunks; ++i) {
    for (long k = 0; k < chunk; ++k) barrier.call(MPI_COMM_WORLD);
    const double end = now_ns();
    samples.push_back((end - start) / static_cast<double>(chunk));
    start = end;
  }
  samples = over_ranks(samples, MPI_SUM);
  int num_ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  for (double& sample : samples) sample /= num_ranks;
  return samples;
}

// One barrier after each MPI_Allreduce of the library: from the last rank's entry to the last one's
// exit, so that what ranks still spend in the allreduce does not count. The allreduce also tells
// how much of the budget is spent.
inline std::vector<double> time_visits(const Barrier& barrier, double budget_ns) {
  std::vector<double> entries;
  std::vector<double> exits;
  const double begin = maximum(now_ns());
  for (int visit = 0; visit < kMostVisits; ++visit) {
    if (maximum(now_ns() - begin) > budget_ns && visit >= kFewestVisits) break;
    entries.push_back(now_ns() - begin);
    barrier.call(MPI_COMM_WORLD);
    exits.push_back(now_ns() - begin);
  }
  const std::vector<double> last_entries = over_ranks(entries, MPI_MAX);
  std::vector<double> samples = over_ranks(exits, MPI_MAX);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] -= last_entries[i];
  return samples;
}

}  // namespace hierbar::bench::mpi

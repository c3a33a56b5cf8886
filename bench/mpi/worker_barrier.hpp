// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The barriers that mpi_barrier_worker measures, and what its ranks agree on.

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "bench/common/stopwatch.hpp"

namespace hierbar::bench {

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
  PMPI_Allreduce(values.data(), result.data(), static_cast<int>(values.size()), MPI_DOUBLE, operation, MPI_COMM_WORLD);
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

}  // namespace hierbar::bench

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "bench/model/trial/compare.hpp"

namespace hierbar::bench::model {

// One split of participants into ranks of equally many threads. The engine runs in all parts.
struct HybridRow {
  std::uint32_t num_ranks = 0;
  std::uint32_t num_threads = 0;
  Costs one;      // the barrier of all threads of all ranks
  Costs threads;  // that of one rank's threads, of the slowest rank
  Costs ranks;    // that of thread 0 of all ranks
};

// The sequence `omp barrier`, MPI_Barrier by one thread, `omp barrier`, in each parameter set.
std::vector<double> sequence(const HybridRow& row, std::vector<double> Costs::* figures);

// Splits `num_participants` into `num_ranks` ranks, each with the next participants of the mapping.
// Errors: the number of ranks does not divide it; those of Scenario::make().
Result<HybridRow> compare_hybrid(const ModelMachine& machine, Mapping mapping, std::uint32_t num_participants,
                                 std::uint32_t num_ranks, std::uint64_t seed, const Episodes& episodes = {});

}  // namespace hierbar::bench::model

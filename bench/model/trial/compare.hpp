// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/model/machine/machine_file.hpp"
#include "bench/model/trial/trial.hpp"

namespace hierbar::bench::model {

// One figure over all parameter sets, in ns.
struct Range {
  double median = 0;
  double least = 0;
  double most = 0;
};
Range range_of(const std::vector<double>& values);

// The cost of one barrier in every parameter set, in ns.
struct Costs {
  std::vector<double> period;
  std::vector<double> isolated;
};
Result<Costs> cost_of(Scenario& scenario, Algorithm algorithm, const EnginePlan& plan,
                      const std::vector<ParameterSet>& sets, std::uint64_t seed,
                      const Episodes& episodes = {});

// One algorithm in one scenario.
struct ComparedRow {
  std::string name;
  Algorithm algorithm = Algorithm::kHier;
  std::uint32_t num_participants = 0;
  Costs costs;
};

// Compares all algorithms. `topo` uses the machine's active levels; if it cannot, it is left out.
Result<std::vector<ComparedRow>> compare_algorithms(const ModelMachine& machine, Mapping mapping,
                                                    std::uint32_t num_participants,
                                                    std::uint64_t seed,
                                                    const Episodes& episodes = {});

// For each parameter set: the time of the fastest classic algorithm, divided by the engine's. The
// fastest one may differ between sets. All algorithms but the engine and the paper's are classic.
std::vector<double> gains_over_classic(const std::vector<ComparedRow>& rows,
                                       std::vector<double> Costs::* figures);
const ComparedRow* find_row(const std::vector<ComparedRow>& rows, Algorithm algorithm);

// The range of a[i] / b[i] over the parameter sets.
Range ratio_range(const std::vector<double>& a, const std::vector<double>& b);

nlohmann::ordered_json to_json(const Range& range);
nlohmann::ordered_json to_json(const ComparedRow& row);

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
Result<HybridRow> compare_hybrid(const ModelMachine& machine, Mapping mapping,
                                 std::uint32_t num_participants, std::uint32_t num_ranks,
                                 std::uint64_t seed, const Episodes& episodes = {});

}  // namespace hierbar::bench::model

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/run_options.hpp"

namespace hierbar::bench::mpi {

// The user's choices. `--help` explains each of them.
struct MpiBenchOptions : RunOptions {
  static constexpr const char* kProgram = "mpi_barrier_bench";

  std::vector<int> rank_counts{2, 4, 8, 16};
  std::vector<std::string> configurations;  // empty: all
  std::vector<std::string> meetings;        // of nodes' leaders, as in HIERBAR_MPI_MEETING
  int num_nodes = 1024;                     // pretended ones, for the meetings
  bool first = false;                       // measure first barriers and MPI_Init, and nothing else
  std::uint64_t seed = 0;                   // for the order in which configurations take turns
  std::filesystem::path mpich_launcher;     // empty: not found
  std::filesystem::path openmpi_launcher;   // empty: not found
  std::filesystem::path wheel_dir;          // empty: no wheel

  MpiBenchOptions() {
    budget_ms = 300;
    timeout_s = 60;
  }
};

// Those of mpi_collective_bench: the same, without meetings and first barriers.
struct CollectiveBenchOptions : MpiBenchOptions {
  static constexpr const char* kProgram = "mpi_collective_bench";

  std::vector<std::string> calls{"allreduce"};
  std::vector<int> sizes{8, 64, 512, 4096};  // in bytes

  // "allreduce:8", in the order of the tables.
  [[nodiscard]] std::vector<std::string> quantities() const;
};

// Reads the command line. Returns the exit status if the program must end: 0 for help, 2 for wrong
// arguments. The message has been printed then.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, MpiBenchOptions& options);
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv,
                                               CollectiveBenchOptions& options);

}  // namespace hierbar::bench::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hierbar::bench::mpi {

// What one launch of the measured program said.
struct Answer {
  using Figures = std::map<std::string, std::vector<double>>;  // ns, by what was measured

  std::string version;    // what the MPI library says of itself, one line
  std::string file;       // the file of PMPI_Barrier
  std::string barrier;    // the file of MPI_Barrier: the same unless something was preloaded
  std::vector<int> cpus;  // where each rank ran
  Figures program;        // of MPI_Barrier
  Figures own;            // of PMPI_Barrier; empty when it was not asked for
};

// The answer among whatever else a launcher wrote; nothing when there is none or it cannot be read.
[[nodiscard]] std::optional<Answer> parse_answer(const std::string& output);

}  // namespace hierbar::bench::mpi

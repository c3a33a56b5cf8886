// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hierbar::bench::mpi {

// The answer of one launch of the measured program.
struct Answer {
  using Figures = std::map<std::string, std::vector<double>>;  // ns, by quantity

  std::string version;    // the MPI library's name and version, on one line
  std::string file;       // the file of PMPI_Barrier
  std::string barrier;    // the file of MPI_Barrier; the same one if nothing was preloaded
  std::vector<int> cpus;  // the cpu of each rank
  Figures program;        // of MPI_Barrier
  Figures own;            // of PMPI_Barrier; empty if it was not asked for
};

// Finds the answer in a launcher's output. Nothing if there is none or it cannot be read.
[[nodiscard]] std::optional<Answer> parse_answer(const std::string& output);

}  // namespace hierbar::bench::mpi

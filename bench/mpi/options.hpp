// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hierbar::bench::mpi {

// What the user asked for; `--help` says what each of them means.
struct Options {
  std::vector<int> rank_counts{2, 4, 8, 16};
  std::vector<std::string> configurations;  // empty: all
  int num_repetitions = 10;
  int max_extra_repetitions = 0;  // after a change of regime
  double budget_ms = 300;         // measured time of one barrier in one process
  double timeout_s = 60;
  double time_limit_s = 0;  // of the whole run; 0: none
  std::uint64_t seed = 0;   // of the order in which configurations take turns
  std::string json_path;    // empty: none; "-": stdout, and then no tables
  std::filesystem::path lib_dir;
  std::filesystem::path libexec_dir;
  std::filesystem::path mpich_launcher;    // empty: not found
  std::filesystem::path openmpi_launcher;  // empty: not found
  std::filesystem::path wheel_dir;         // empty: no wheel
  bool check = false;
  bool list = false;
};

// Reads the command line. Returns the exit status when there is nothing left to do: help was asked for (0) or the arguments are
// wrong (2); what had to be said about it has been printed.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace hierbar::bench::mpi

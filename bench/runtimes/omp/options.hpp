// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/decode_graph.hpp"
#include "bench/common/run_options.hpp"

namespace hierbar::bench::omp {

enum class Binding : std::uint8_t { kAuto, kAlways, kNever };

// The user's choices. `--help` explains each of them.
struct OmpBenchOptions : RunOptions {
  static constexpr const char* kProgram = "omp_barrier_bench";

  std::vector<int> thread_counts;           // empty: the default list
  std::vector<std::string> constructs;      // empty: all
  std::vector<std::string> configurations;  // empty: the default ones
  double delay_ns = 0;
  DecodeGraph graph;  // of the decodes
  Binding binding = Binding::kAuto;
  bool passive = false;
  std::string blocktime;  // empty: not set
  std::string reference = "hier";
  std::filesystem::path stock_dir;
  std::string peer_libomp;   // empty: the loader's choice
  std::string peer_libgomp;  // empty: the loader's choice
  bool brief = false;
  bool tools = false;

  OmpBenchOptions() {
    budget_ms = 60;
    timeout_s = 20;
  }
};

// Reads the command line. Returns the exit status if the program must end: 0 for help, 2 for wrong
// arguments. The message has been printed then.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, OmpBenchOptions& options);

}  // namespace hierbar::bench::omp

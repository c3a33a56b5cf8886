// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrier/algorithm.hpp"

namespace hierbar::bench {

struct BarrierBenchOptions {
  std::vector<Algorithm> algorithms;           // never empty, no duplicates
  std::vector<std::string> benchmark_options;  // the rest, for Google Benchmark
};

// Reads the command line. Returns the exit status if the program must end: 0 for help, 2 for an
// unknown algorithm. The message has been printed then.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, BarrierBenchOptions& options);

}  // namespace hierbar::bench

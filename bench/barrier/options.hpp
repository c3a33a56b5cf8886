// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrier/algorithm.hpp"

namespace hierbar::bench {

struct Options {
  std::vector<Algorithm> algorithms;           // never empty, each once
  std::vector<std::string> benchmark_options;  // what is left for Google Benchmark
};

// Reads the command line. Returns the exit status when there is nothing left to do: help was asked for (0) or an algorithm does
// not exist (2); what had to be said about it has been printed.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace hierbar::bench

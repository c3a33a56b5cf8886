// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/barrier/options.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

namespace hierbar::bench {
namespace {

constexpr const char* kDescription =
    "Measures the period of back-to-back barrier crossings of 2 to 16 threads, beside std::barrier, pthread_barrier_t and the\n"
    "physical floors. Compare within one run only.\n";

constexpr const char* kFooter =
    "Environment:\n"
    "  HIERBAR_LEVELS     levels of the groups of `topo`, for example numa or numa,package\n"
    "  HIERBAR_TOPOLOGY   a machine to plan for in place of this one\n"
    "\n"
    "Exit status: 0 measured, 2 wrong arguments\n"
    "\n"
    "Examples:\n"
    "  barrier_bench --algorithm all --benchmark_filter=/8/\n"
    "  barrier_bench --algorithm hier,topo,mcs --benchmark_out=result.json\n"
    "\n"
    "The other options are Google Benchmark's:\n";

constexpr const char* kAll = "all";

std::string algorithm_help() {
  std::string text = "Which algorithms, separated by commas, or `all`. Default: hier.";
  for (const NamedAlgorithm& named : kAlgorithms) text += fmt::format("\n{}", named.name);
  return text;
}

// Adds the algorithms of one element of the list. Returns the problem; empty if there is none.
std::string add_algorithms(const std::string& name, std::vector<Algorithm>& algorithms) {
  const std::optional<Algorithm> only = parse_algorithm(name);
  if (!only && name != kAll) {
    return fmt::format("'{}': no such algorithm; allowed: {}, or a comma list of {}", name, kAll, kAllowedAlgorithms);
  }
  for (const NamedAlgorithm& named : kAlgorithms) {
    const bool is_new = std::find(algorithms.begin(), algorithms.end(), named.algorithm) == algorithms.end();
    if (is_new && (!only || *only == named.algorithm)) algorithms.push_back(named.algorithm);
  }
  return {};
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, BarrierBenchOptions& options) {
  CLI::App app(kDescription, "barrier_bench");
  app.footer(kFooter);
  app.allow_extras();
  std::vector<std::string> names{std::string(algorithm_name(Algorithm::kHier))};
  app.add_option("--algorithm", names, algorithm_help())->delimiter(',')->option_text("NAME,...");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_help = app.exit(error) == 0;
    if (is_help) benchmark::PrintDefaultHelp();
    return is_help ? 0 : 2;
  }
  for (const std::string& name : names) {
    const std::string problem = add_algorithms(name, options.algorithms);
    if (problem.empty()) continue;
    std::cerr << "barrier_bench: --algorithm: " << problem << '\n';
    return 2;
  }
  options.benchmark_options = app.remaining();
  return std::nullopt;
}

}  // namespace hierbar::bench

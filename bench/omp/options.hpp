// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hierbar::bench {

enum class Binding : std::uint8_t { kAuto, kAlways, kNever };

// What the user asked for; `--help` says what each of them means.
struct Options {
  std::vector<int> thread_counts;           // empty: the default list
  std::vector<std::string> constructs;      // empty: all
  std::vector<std::string> configurations;  // empty: those that are on by default
  int num_repetitions = 10;
  int max_extra_repetitions = 0;  // after a change of regime
  double budget_ms = 60;          // measured time of one process
  double delay_ns = 0;
  double timeout_s = 20;
  double time_limit_s = 0;  // of the whole run; 0: none
  Binding binding = Binding::kAuto;
  bool passive = false;
  std::string blocktime;  // empty: not set
  std::string reference = "hier";
  std::string json_path;  // empty: none; "-": stdout, and then no tables
  std::filesystem::path lib_dir;
  std::filesystem::path stock_dir;
  std::filesystem::path libexec_dir;
  std::string peer_libomp;   // empty: the loader's choice
  std::string peer_libgomp;  // empty: the loader's choice
  bool brief = false;
  bool check = false;
  bool list = false;
};

// Reads the command line. Returns the exit status when there is nothing left to do: help was asked for (0) or the arguments are
// wrong (2); what had to be said about it has been printed.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace hierbar::bench

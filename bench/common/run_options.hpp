// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace hierbar::bench {

// What the drivers that launch measured programs have in common on their command lines.
struct RunOptions {
  int num_repetitions = 10;
  int max_extra_repetitions = 0;  // after a change of regime
  double budget_ms = 0;           // measured time in one process
  double timeout_s = 0;
  double time_limit_s = 0;  // of the whole run; 0: none
  bool quick = false;       // the defaults are smaller
  std::string json_path;    // empty: none; "-": stdout, and then no tables
  std::filesystem::path lib_dir;
  std::filesystem::path libexec_dir;
  bool check = false;
  bool list = false;
};

// The words in which drivers differ.
struct RunHelp {
  const char* repetitions;
  const char* budget;
  const char* extra_repetitions;
  const char* timeout;
  const char* lib_dir;
  const char* list;
};

void add_repetition_options(CLI::App& app, RunOptions& options, const RunHelp& help);
void add_place_options(CLI::App& app, RunOptions& options, const RunHelp& help);
void add_output_options(CLI::App& app, RunOptions& options, const RunHelp& help);

// What --quick makes of defaults, not of what was given.
struct QuickDefaults {
  int num_repetitions;
  double budget_ms;
};
void fill_run_defaults(RunOptions& options, const CLI::App& app, const QuickDefaults& quick);

// The directory above the one that this program is in.
std::filesystem::path prefix_of_program();

// Where `library` is, seen from the prefix: `installed_dir` if it is there, else lib.
std::filesystem::path find_lib_dir(const std::filesystem::path& installed_dir, const std::filesystem::path& library);

// The first file of one of these names in PATH, the names in their order; empty when there is none.
std::filesystem::path find_in_path(const std::vector<std::string_view>& names);

}  // namespace hierbar::bench

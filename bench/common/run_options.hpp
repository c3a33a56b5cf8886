// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace hierbar::bench {

// The common options of the drivers that launch measured programs.
struct RunOptions {
  int num_repetitions = 10;
  int max_extra_repetitions = 0;  // after changes of regime
  double budget_ms = 0;           // the time that one process measures
  double timeout_s = 0;           // for one process
  double time_limit_s = 0;        // for what is measured; 0: none
  double stop_after_s = 0;        // whatever is being measured; 0: never
  double wait_s = 60;             // for a quiet machine, in the whole run
  bool quick = false;             // the defaults are smaller
  std::string json_path;          // empty: none; "-": stdout, and then no tables
  std::filesystem::path lib_dir;
  std::filesystem::path libexec_dir;
  bool check = false;
  bool list = false;

  bool has_tables() const { return json_path != "-"; }
};

// A part of the drivers' manuals.
inline constexpr const char* kExitStatusHelp =
    "Exit status:\n"
    "  0  measured (with --check: every target met)\n"
    "  1  with --check: a target missed, or not measured\n"
    "  2  wrong arguments, or nothing can be measured\n"
    "  128 + the signal, 130 for Ctrl-C: it was stopped, and shows what it had measured\n"
    "\n";

// The help texts in which the drivers differ.
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

// Parses the command line. Returns the exit status if the program is to end: it has printed help,
// or what is wrong.
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv);

// The defaults with --quick. They do not replace options that were given.
struct QuickDefaults {
  int num_repetitions;
  double budget_ms;
};
void fill_run_defaults(RunOptions& options, const CLI::App& app, const QuickDefaults& quick);

// For numbers of participants.
void sort_and_drop_repeated(std::vector<int>& counts);

// The parent of this program's directory.
std::filesystem::path prefix_of_program();

// The directory of `library` below the prefix: `installed_dir` if it is there, else lib.
std::filesystem::path find_lib_dir(const std::filesystem::path& installed_dir,
                                   const std::filesystem::path& library);

// The path of the first of these names that is in PATH. Empty if none is.
std::filesystem::path find_in_path(const std::vector<std::string_view>& names);

// Exit status: wrong arguments, or nothing can be measured.
inline constexpr int kUsage = 2;

// The main function of a driver. `parse(argc, argv, options)` returns the exit status where there
// is nothing to run. A problem that `run(options)` throws becomes one line.
template <class Options, class Parse, class Run>
int run_driver(const char* name, int argc, char** argv, Parse parse, Run run) {
  Options options;
  if (const auto status = parse(argc, argv, options)) return *status;
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return kUsage;
  }
}

}  // namespace hierbar::bench

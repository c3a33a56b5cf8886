// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/run_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

namespace hierbar::bench {

namespace fs = std::filesystem;

void add_repetition_options(CLI::App& app, RunOptions& options, const RunHelp& help) {
  app.add_option("--reps", options.num_repetitions, help.repetitions)
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app.add_option("--budget-ms", options.budget_ms, help.budget)
      ->check(CLI::Range(1.0, 60000.0))
      ->option_text("MS");
  app.add_option("--extra-reps", options.max_extra_repetitions, help.extra_repetitions)
      ->check(CLI::Range(0, 1000))
      ->option_text("N");
  app.add_option("--timeout", options.timeout_s, help.timeout)
      ->check(CLI::Range(1.0, 3600.0))
      ->option_text("S");
  app.add_option("--time-limit", options.time_limit_s,
                 "No repetition after the first is begun that would probably end after so many "
                 "seconds. Default:\n"
                 "no limit; 150 with --quick.")
      ->check(CLI::Range(1.0, 1e6))
      ->option_text("S");
  app.add_option("--stop-after", options.stop_after_s,
                 "Stop after so many seconds, also within a repetition, and report what was "
                 "measured, as after\nCtrl-C. Default: never.")
      ->check(CLI::Range(1.0, 1e6))
      ->option_text("S");
  app.add_option("--wait", options.wait_s,
                 "Wait so long in all for moments in which others leave the machine alone: at "
                 "first, and after what\n"
                 "they have disturbed. That is repeated, as after a change of regime. What is "
                 "disturbed then too gets\n"
                 "no verdict. Default: 60.")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("S");
  app.add_flag("--quick", options.quick, "Fewer and shorter repetitions, and a time limit.");
}

void add_place_options(CLI::App& app, RunOptions& options, const RunHelp& help) {
  app.add_option("--lib-dir", options.lib_dir, help.lib_dir)->option_text("DIR");
  app.add_option("--libexec-dir", options.libexec_dir,
                 "Where the measured programs are. Default: ../libexec/hierbar.")
      ->option_text("DIR");
}

void add_output_options(CLI::App& app, RunOptions& options, const RunHelp& help) {
  app.add_option(
         "--json", options.json_path,
         "Write everything, raw samples included, to FILE; `-`: to stdout in place of the tables.")
      ->option_text("FILE");
  app.add_flag("--check", options.check,
               "Judge the figures by the project's targets and say PASS or FAIL for each.");
  app.add_flag("--list", options.list, help.list);
}

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) try {
  app.parse(argc, argv);
  return std::nullopt;
} catch (const CLI::ParseError& error) {
  return app.exit(error) == 0 ? 0 : 2;
}

void fill_run_defaults(RunOptions& options, const CLI::App& app, const QuickDefaults& quick) {
  if (options.libexec_dir.empty())
    options.libexec_dir = prefix_of_program() / "libexec" / "hierbar";
  if (options.quick && app.count("--reps") == 0) options.num_repetitions = quick.num_repetitions;
  if (options.quick && app.count("--budget-ms") == 0) options.budget_ms = quick.budget_ms;
  if (options.quick && app.count("--time-limit") == 0) options.time_limit_s = 150;
  if (app.count("--extra-reps") == 0) options.max_extra_repetitions = options.num_repetitions;
}

void sort_and_drop_repeated(std::vector<int>& counts) {
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
}

fs::path prefix_of_program() {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  return (error ? fs::current_path() : program.parent_path()).parent_path();
}

fs::path find_lib_dir(const fs::path& installed_dir, const fs::path& library) {
  const fs::path prefix = prefix_of_program();
  return fs::exists(prefix / installed_dir / library) ? prefix / installed_dir : prefix / "lib";
}

fs::path find_in_path(const std::vector<std::string_view>& names) {
  const char* const variable = std::getenv("PATH");
  const std::string path = variable == nullptr ? "" : variable;
  for (const std::string_view name : names) {
    for (std::size_t start = 0; start < path.size();) {
      const std::size_t end = std::min(path.find(':', start), path.size());
      const fs::path file = fs::path(path.substr(start, end - start)) / name;
      std::error_code error;
      if (fs::is_regular_file(file, error)) return file;
      start = end + 1;
    }
  }
  return {};
}

}  // namespace hierbar::bench

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>

#include "mpi/configuration.hpp"

namespace hierbar::bench::mpi {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDescription =
    "Measures MPI_Barrier of all ranks of one machine under different MPI libraries, side by side.\n"
    "\n"
    "Every configuration runs in a launch of its own, and all configurations take turns, in random order, inside every\n"
    "repetition, so that what disturbs the machine disturbs all of them. Between them the physical floors of the machine are\n"
    "measured with plain threads. Ranks that do not outnumber the cpus are bound, one to a core; others run as the launcher\n"
    "starts them. The thread level is MPI_THREAD_SINGLE. A figure is the median over all samples, each the maximum over the\n"
    "ranks; a ratio is the middle one of the repetitions' ratios, with their spread:\n"
    "  period    barriers back to back: ns from one to the next\n"
    "  isolated  one barrier that all enter at an agreed moment: from the last entry to the last exit\n"
    "  skew      of the same: from the first exit to the last\n"
    "  late      one rank comes 20 us after the others: from its entry to the last exit\n"
    "All but the period need ranks that run at once, and are measured only where each has a cpu.\n";

constexpr const char* kFooter =
    "Environment:\n"
    "  LD_PRELOAD, LD_LIBRARY_PATH and OpenMP's variables are not passed on to the measured programs. HIERBAR_* settings and\n"
    "  those of the MPI libraries are.\n"
    "\n"
    "Exit status:\n"
    "  0  measured (with --check: every target met)\n"
    "  1  with --check: a target missed, or not measured\n"
    "  2  wrong arguments, or nothing can be measured\n"
    "\n"
    "Examples:\n"
    "  mpi_barrier_bench --quick                      the whole picture in two to three minutes\n"
    "  mpi_barrier_bench --ranks 2 --check            one table, judged\n"
    "  mpi_barrier_bench --check --json result.json   for a record\n";

std::string configuration_help() {
  std::string text = "Which configurations, separated by commas. Default: all that are installed.";
  for (const ConfigurationName& known : kConfigurations) text += fmt::format("\n{:<15}{}", known.name, known.explains);
  return text;
}

void add_what(CLI::App& app, Options& options) {
  app.add_option("--ranks", options.rank_counts, "Numbers of ranks, separated by commas. Default: 2,4,8,16.")
      ->delimiter(',')
      ->check(CLI::Range(2, 1024))
      ->option_text("N,...");
  std::vector<std::string> names;
  for (const ConfigurationName& known : kConfigurations) names.emplace_back(known.name);
  app.add_option("--configs", options.configurations, configuration_help())
      ->delimiter(',')
      ->check(CLI::IsMember(names).description(""))
      ->option_text("NAME,...");
}

void add_how(CLI::App& app, Options& options, bool& quick) {
  app.add_option("--reps", options.num_repetitions, "Repetitions. Default: 10; 3 with --quick.")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app.add_option("--budget-ms", options.budget_ms, "Measured time of each figure in one launch. Default: 300; 200 with --quick.")
      ->check(CLI::Range(1.0, 60000.0))
      ->option_text("MS");
  app.add_option("--extra-reps", options.max_extra_repetitions,
                 "How many repetitions may be repeated, for each number of ranks, because the regime changed.\n"
                 "Default: as many as --reps.")
      ->check(CLI::Range(0, 1000))
      ->option_text("N");
  app.add_option("--timeout", options.timeout_s, "A launch that takes longer is killed and counts as failed. Default: 60.")
      ->check(CLI::Range(1.0, 3600.0))
      ->option_text("S");
  app.add_option("--time-limit", options.time_limit_s,
                 "No repetition after the first is begun that would probably end after so many seconds. Default:\n"
                 "no limit; 150 with --quick.")
      ->check(CLI::Range(1.0, 1e6))
      ->option_text("S");
  app.add_option("--seed", options.seed, "Of the random order. Default: another one each time; the report says which.")
      ->option_text("N");
  app.add_flag("--quick", quick, "Fewer and shorter repetitions, and a time limit.");
}

void add_where(CLI::App& app, Options& options) {
  app.add_option("--lib-dir", options.lib_dir, "Where libhierbar_mpi.so is. Default, seen from this program: ../lib.")
      ->option_text("DIR");
  app.add_option("--libexec-dir", options.libexec_dir, "Where the measured programs are. Default: ../libexec/hierbar.")
      ->option_text("DIR");
  app.add_option("--mpich-launcher", options.mpich_launcher, "MPICH's mpiexec. Default: mpiexec.mpich or mpiexec.hydra in PATH.")
      ->check(CLI::ExistingFile.description(""))
      ->option_text("FILE");
  app.add_option("--openmpi-launcher", options.openmpi_launcher,
                 "Open MPI's mpiexec. Default: mpiexec.openmpi or mpirun.openmpi in PATH.")
      ->check(CLI::ExistingFile.description(""))
      ->option_text("FILE");
  app.add_option("--mpich-wheel", options.wheel_dir,
                 "Also another MPICH with the same ABI, as the PyPI wheel `mpich`: the directory above its\n"
                 "bin/mpiexec and lib/libmpi.so.12.")
      ->check(CLI::ExistingDirectory.description(""))
      ->option_text("DIR");
}

void add_output(CLI::App& app, Options& options) {
  app.add_option("--json", options.json_path,
                 "Write everything, raw samples included, to FILE; `-`: to stdout in place of the tables.")
      ->option_text("FILE");
  app.add_flag("--check", options.check, "Judge the figures by the project's targets and say PASS or FAIL for each.");
  app.add_flag("--list", options.list, "Show the configurations and which library each loads, and stop.");
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

fs::path directory_of_program() {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : program.parent_path();
}

// Places are seen from this program. --quick changes defaults, not what was given.
void fill_defaults(Options& options, const CLI::App& app, bool quick) {
  const fs::path prefix = directory_of_program().parent_path();
  if (options.lib_dir.empty()) {
    const fs::path installed = prefix / HIERBAR_BENCH_INSTALLED_LIB_DIR;
    options.lib_dir = fs::exists(installed / "libhierbar_mpi.so") ? installed : prefix / "lib";
  }
  if (options.libexec_dir.empty()) options.libexec_dir = prefix / "libexec" / "hierbar";
  if (options.mpich_launcher.empty()) options.mpich_launcher = find_in_path({"mpiexec.mpich", "mpiexec.hydra"});
  if (options.openmpi_launcher.empty()) options.openmpi_launcher = find_in_path({"mpiexec.openmpi", "mpirun.openmpi"});
  if (quick && app.count("--reps") == 0) options.num_repetitions = 3;
  if (quick && app.count("--budget-ms") == 0) options.budget_ms = 200;
  if (quick && app.count("--time-limit") == 0) options.time_limit_s = 150;
  if (app.count("--extra-reps") == 0) options.max_extra_repetitions = options.num_repetitions;
  if (app.count("--seed") == 0) options.seed = std::random_device()();
  std::sort(options.rank_counts.begin(), options.rank_counts.end());
  options.rank_counts.erase(std::unique(options.rank_counts.begin(), options.rank_counts.end()), options.rank_counts.end());
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  CLI::App app(kDescription, "mpi_barrier_bench");
  app.footer(kFooter);
  app.get_formatter()->column_width(26);
  bool quick = false;
  add_what(app, options);
  add_how(app, options, quick);
  add_where(app, options);
  add_output(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  fill_defaults(options, app, quick);
  return std::nullopt;
}

}  // namespace hierbar::bench::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/mpi/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <random>

#include "bench/runtimes/mpi/configuration.hpp"
#include "network/schedule.hpp"

namespace hierbar::bench::mpi {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDescription =
    "Measures MPI_Barrier of all ranks of one machine under different MPI libraries, side by "
    "side.\n"
    "\n"
    "Every configuration runs in a launch of its own, and all configurations take turns, in random "
    "order, inside every\n"
    "repetition, so that what disturbs the machine disturbs all of them. Between them the physical "
    "floors of the machine are\n"
    "measured with plain threads. Ranks that do not outnumber the cpus are bound, one to a core; "
    "others run as the launcher\n"
    "starts them. The thread level is MPI_THREAD_SINGLE. A figure is the median over all samples, "
    "each the maximum over the\n"
    "ranks; a ratio is the middle one of the repetitions' ratios, with their spread:\n"
    "  period    barriers back to back: ns from one to the next\n"
    "  isolated  one barrier that all enter at an agreed moment: from the last entry to the last "
    "exit\n"
    "  skew      of the same: from the first exit to the last\n"
    "  late      one rank comes 20 us after the others: from its entry to the last exit\n"
    "These need ranks that run at once. Where ranks outnumber the cpus there are two others:\n"
    "  loop       barriers back to back for long: what a program in a loop gets, from one to the "
    "next\n"
    "  elsewhere  one barrier after an MPI_Allreduce of the library, from the last entry to the "
    "last exit: what a\n"
    "             program gets that comes from elsewhere\n"
    "\n"
    "With --first, what setting up costs is measured instead:\n"
    "  first      the first barrier on a new communicator, which makes what later ones use\n"
    "  cold       the same, of the program's first barrier of all\n"
    "  allreduce  the library's own MPI_Allreduce on a new communicator, in the same processes and "
    "in turns with `first`\n"
    "  init       MPI_Init, which a preloaded library should not make slower\n";

constexpr const char* kCollectiveDescription =
    "Measures MPI_Allreduce, MPI_Bcast, MPI_Reduce, MPI_Allgather, MPI_Alltoall, MPI_Gather, "
    "MPI_Scatter\n"
    "and MPI_Reduce_scatter_block of few bytes,\n"
    "among all ranks of one machine, under different MPI libraries, side by side, and MPI_Barrier "
    "in the same\n"
    "processes. Data are doubles, reductions are sums, the root is rank 0.\n"
    "This project is measured with HIERBAR_MPI=collectives.\n"
    "\n"
    "All else is as in mpi_barrier_bench: every configuration runs in a launch of its own, all "
    "take "
    "turns in random order\n"
    "inside every repetition, and with them the physical floors of the machine. Ranks that do not "
    "outnumber the cpus are\n"
    "bound, one to a core. The figure is ns from one call to the next, calls back to back: in "
    "short "
    "batches that take turns,\n"
    "or in one long loop for each where ranks outnumber the cpus. Each sample is the maximum over "
    "the ranks, in a loop their\n"
    "mean. A ratio is the middle one of the repetitions' ratios, with their spread.\n"
    "\n"
    "Tables and JSON name a figure CALL:BYTES, as allreduce:64, and MPI_Barrier's `barrier`.\n";

constexpr const char* kCollectiveExamplesHelp =
    "Examples:\n"
    "  mpi_collective_bench --quick                   MPI_Allreduce in some minutes\n"
    "  mpi_collective_bench --ranks 2 --check         one number of ranks, judged\n"
    "  mpi_collective_bench --calls bcast,reduce --bytes 8,1024\n"
    "                                                 others, of other sizes\n"
    "  mpi_collective_bench --json result.json        for a record\n";

constexpr const char* kEnvironmentHelp =
    "Environment:\n"
    "  LD_PRELOAD, LD_LIBRARY_PATH and OpenMP's variables are not passed on to the measured "
    "programs. HIERBAR_* settings and\n"
    "  those of the MPI libraries are.\n"
    "\n";

constexpr const char* kExamplesHelp =
    "Examples:\n"
    "  mpi_barrier_bench --quick                      the whole picture in two to three minutes\n"
    "  mpi_barrier_bench --ranks 2 --check            one table, judged\n"
    "  mpi_barrier_bench --ranks 8 --meetings all     how leaders of nodes could meet, each rank "
    "being a node\n"
    "  mpi_barrier_bench --first --check              what the first barrier on a communicator "
    "costs, and MPI_Init\n"
    "  mpi_barrier_bench --check --json result.json   for a record\n";

std::string configuration_help() {
  std::string text = "Which configurations, separated by commas. Default: all that are installed.";
  for (const KnownConfiguration& known : kConfigurations)
    text += fmt::format("\n{:<15}{}", known.name, known.explains);
  return text;
}

// Empty: `text` is a meeting.
std::string problem_of_meeting(const std::string& text) {
  if (text == "all" || text == "auto" || text == "library") return "";
  const bool is_listed =
      std::find(kAllMeetings.begin(), kAllMeetings.end(), text) != kAllMeetings.end();
  const Result<network::Kind> kind = network::parse_kind(text);
  return kind || is_listed
             ? ""
             : fmt::format(
                   "--meetings: '{}': {}; allowed: all, library, auto, tuned:1 to tuned:6, {}",
                   text, kind.error(), network::kAllowedKinds);
}

void add_meetings(CLI::App& app, MpiBenchOptions& options) {
  app.add_option("--meetings", options.meetings,
                 "Also this project's barrier over pretended nodes, whose leaders meet by each of "
                 "these schedules of messages\n"
                 "(HIERBAR_MPI_MEETING), under MPICH: all, or a list of library, auto and "
                 "schedules such as dissemination:3.\n"
                 "tuned:1 to tuned:6 are Open MPI's own algorithms (coll_tuned_barrier_algorithm) "
                 "among all ranks; tuned:5\n"
                 "is for two ranks only.")
      ->delimiter(',')
      ->check(CLI::Validator(&problem_of_meeting, ""))
      ->option_text("NAME,...");
  app.add_option("--nodes", options.num_nodes,
                 "How many nodes to pretend for --meetings, round robin. Default: each rank is on "
                 "a node of its own.")
      ->check(CLI::Range(2, 1024))
      ->option_text("N");
}

void add_ranks(CLI::App& app, MpiBenchOptions& options, const char* help) {
  app.add_option("--ranks", options.rank_counts, help)
      ->delimiter(',')
      ->check(CLI::Range(2, 1024))
      ->option_text("N,...");
}

void add_configurations(CLI::App& app, MpiBenchOptions& options) {
  std::vector<std::string> names;
  for (const KnownConfiguration& known : kConfigurations) names.emplace_back(known.name);
  app.add_option("--configs", options.configurations, configuration_help())
      ->delimiter(',')
      ->check(CLI::IsMember(names).description(""))
      ->option_text("NAME,...");
}

void add_what(CLI::App& app, MpiBenchOptions& options) {
  add_ranks(app, options,
            "Ranks of the job, several numbers separated by commas. Default: 2,4,8,16; 2 with "
            "--first.");
  app.add_flag("--first", options.first,
               "Measure the first barrier on a new communicator, and MPI_Init, instead.");
  add_configurations(app, options);
  add_meetings(app, options);
}

// Empty: `text` is a size that the measured program has.
std::string problem_of_size(const std::string& text) {
  for (std::size_t bytes = 8; bytes <= 65536; bytes *= 2) {
    if (text == std::to_string(bytes)) return "";
  }
  return fmt::format("'{}': allowed: 8, 16, 32 and so on, to 65536", text);
}

void add_what(CLI::App& app, CollectiveBenchOptions& options) {
  app.add_option(
         "--calls", options.calls,
         "Which calls, separated by commas: allreduce, bcast, reduce, allgather, alltoall,\n"
         "gather, scatter, reduce-scatter.\n"
         "Default: allreduce.")
      ->delimiter(',')
      ->check(CLI::IsMember({"allreduce", "bcast", "reduce", "allgather", "alltoall", "gather",
                             "scatter", "reduce-scatter"})
                  .description(""))
      ->option_text("NAME,...");
  app.add_option(
         "--bytes", options.sizes,
         "Bytes of one rank, in an alltoall and a reduce-scatter for one other, separated by\n"
         "commas: powers of two from 8 to 65536.\n"
         "Default: 8,64,512,4096.")
      ->delimiter(',')
      ->check(CLI::Validator(&problem_of_size, ""))
      ->option_text("N,...");
  add_ranks(app, options,
            "Ranks of the job, several numbers separated by commas. Default: 2,4,8,16.");
  add_configurations(app, options);
}

constexpr RunHelp kRunHelp = {
    .repetitions = "Repetitions. Default: 10; 3 with --quick.",
    .budget = "Measured time of each figure in one launch. Default: 300; 200 with --quick.",
    .extra_repetitions =
        "How many repetitions may be repeated, for each number of ranks, because the regime "
        "changed.\n"
        "Default: as many as --reps.",
    .timeout = "Seconds, after which a launch is killed and counts as failed. Default: 60.",
    .lib_dir = "Where libhierbar_mpi.so is. Default, seen from this program: ../lib.",
    .list = "Show the configurations and which library each loads, and stop."};

void add_how(CLI::App& app, MpiBenchOptions& options) {
  add_repetition_options(app, options, kRunHelp);
  app.add_option("--seed", options.seed,
                 "Of the random numbers of a run, which order its turns. Default: another one each "
                 "time;\nthe report says which.")
      ->option_text("N");
}

void add_where(CLI::App& app, MpiBenchOptions& options) {
  add_place_options(app, options, kRunHelp);
  app.add_option("--mpich-launcher", options.mpich_launcher,
                 "MPICH's mpiexec. Default: mpiexec.mpich or mpiexec.hydra in PATH.")
      ->check(CLI::ExistingFile.description(""))
      ->option_text("FILE");
  app.add_option("--openmpi-launcher", options.openmpi_launcher,
                 "Open MPI's mpiexec. Default: mpiexec.openmpi or mpirun.openmpi in PATH.")
      ->check(CLI::ExistingFile.description(""))
      ->option_text("FILE");
  app.add_option("--mpich-wheel", options.wheel_dir,
                 "Also another MPICH with the same ABI, as the PyPI wheel `mpich`: the directory "
                 "above its\n"
                 "bin/mpiexec and lib/libmpi.so.12.")
      ->check(CLI::ExistingDirectory.description(""))
      ->option_text("DIR");
}

void fill_defaults(MpiBenchOptions& options, const CLI::App& app) {
  fill_run_defaults(options, app, {.num_repetitions = 3, .budget_ms = 200});
  if (options.lib_dir.empty())
    options.lib_dir = find_lib_dir(HIERBAR_BENCH_INSTALLED_LIB_DIR, "libhierbar_mpi.so");
  if (options.mpich_launcher.empty())
    options.mpich_launcher = find_in_path({"mpiexec.mpich", "mpiexec.hydra"});
  if (options.openmpi_launcher.empty())
    options.openmpi_launcher = find_in_path({"mpiexec.openmpi", "mpirun.openmpi"});
  if (app.count("--seed") == 0) options.seed = std::random_device()();
  if (options.first && app.count("--ranks") == 0) options.rank_counts = {2};
  if (is_one_of(options.meetings, "all"))
    options.meetings.assign(kAllMeetings.begin(), kAllMeetings.end());
  sort_and_drop_repeated(options.rank_counts);
}

template <class Options>
std::optional<int> parse(int argc, char** argv, Options& options, const char* description,
                         const char* examples) {
  CLI::App app(description, options.kProgram);
  app.footer(std::string(kEnvironmentHelp) + kExitStatusHelp + examples);
  app.get_formatter()->column_width(26);
  add_what(app, options);
  add_how(app, options);
  add_where(app, options);
  add_output_options(app, options, kRunHelp);
  if (const auto status = parse_command_line(app, argc, argv)) return status;
  fill_defaults(options, app);
  return std::nullopt;
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, MpiBenchOptions& options) {
  return parse(argc, argv, options, kDescription, kExamplesHelp);
}

std::optional<int> parse_options(int argc, char** argv, CollectiveBenchOptions& options) {
  const auto status = parse(argc, argv, options, kCollectiveDescription, kCollectiveExamplesHelp);
  sort_and_drop_repeated(options.sizes);
  return status;
}

std::vector<std::string> CollectiveBenchOptions::quantities() const {
  std::vector<std::string> all;
  for (const std::string& call : calls) {
    for (const int bytes : sizes) all.push_back(fmt::format("{}:{}", call, bytes));
  }
  return all;
}

}  // namespace hierbar::bench::mpi

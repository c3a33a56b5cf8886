// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/stencil/options.hpp"

#include <CLI/CLI.hpp>

#include "bench/common/run_options.hpp"

namespace hierbar::bench::stencil {
namespace {

constexpr const char* kShim = "libhierbar_mpi.so";

constexpr const char* kDescription =
    "What placement is worth to a hybrid program: a stencil by MPI ranks that are OpenMP teams, with and without it.\n"
    "\n"
    "The program solves Laplace's equation by Jacobi's method, with an exchange of borders, three team barriers and one\n"
    "MPI_Allreduce per sweep, and compares its result with the known one. It runs under MPICH with this project's libomp, as\n"
    "  off   HIERBAR_PLACE=off: the launcher and libomp place ranks and threads, each for itself\n"
    "  auto  HIERBAR_PLACE=auto: they share the node out along one tree\n"
    "in turns, so that what disturbs the machine disturbs both. A figure is the median over all samples, the maximum over\n"
    "ranks; the ratio is the middle one of the repetitions' ratios, with their spread.\n"
    "\n"
    "With --barrier the ranks share their memory and read each other's borders there. A sweep then has one barrier of all\n"
    "threads of all ranks, and nothing else:\n"
    "  hybrid  hierbar_team_barrier (hierbar/mpi.h)\n"
    "  phases  omp barrier, MPI_Barrier in each rank's primary, omp barrier; the MPI_Barrier is this project's\n";

constexpr const char* kFooter =
    "Environment:\n"
    "  LD_PRELOAD, LD_LIBRARY_PATH and OpenMP's variables are not passed on to the program. HIERBAR_* settings and those of\n"
    "  MPICH are.\n"
    "\n"
    "Exit status:\n"
    "  0  measured, and all results were correct\n"
    "  1  a result was wrong, or a launch failed\n"
    "  2  wrong arguments, or nothing can be measured\n"
    "\n"
    "Examples:\n"
    "  stencil_bench --ranks 1 --threads 2                    a rank bound to a core, whose threads stack up on it\n"
    "  stencil_bench --ranks 2 --threads 4 --bind-to none    unbound ranks, which all begin at the first place\n"
    "  stencil_bench --ranks 2 --threads 2 --barrier hybrid  one barrier of all threads in each sweep\n"
    "  stencil_bench --ranks 4 --threads 4 --rows 256 --columns 256 --json result.json\n";

// The known result decreases with every sweep, and faster for a smaller square. Within these bounds
// it does not underflow.
void add_problem(CLI::App& app, StencilOptions& options) {
  app.add_option("--ranks", options.num_ranks, "MPI ranks. Default: 2.")->check(CLI::Range(1, 4096))->option_text("N");
  app.add_option("--threads", options.num_threads, "Threads of each rank. Default: 2.")
      ->check(CLI::Range(1, 4096))
      ->option_text("N");
  app.add_option("--rows", options.rows, "Rows, shared out among ranks and their threads. Default: 512.")
      ->check(CLI::Range(64L, 1L << 20))
      ->option_text("N");
  app.add_option("--columns", options.columns, "Columns. Default: 512.")->check(CLI::Range(64L, 1L << 20))->option_text("N");
  app.add_option("--sweeps", options.num_sweeps, "Sweeps of one sample. Default: 200.")
      ->check(CLI::Range(1, 10000))
      ->option_text("N");
  app.add_option("--barrier", options.barrier, "Share memory, with this barrier: hybrid or phases. Default: exchange messages.")
      ->check(CLI::IsMember({"hybrid", "phases"}).description(""))
      ->option_text("HOW");
}

void add_run(CLI::App& app, StencilOptions& options) {
  app.add_option("--samples", options.num_samples, "Samples of each launch, after one to warm up. Default: 3.")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app.add_option("--reps", options.num_repetitions, "Repetitions, each a launch of both. Default: 5.")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app.add_option("--timeout", options.timeout_s, "A launch that takes longer is killed and counts as failed. Default: 60.")
      ->check(CLI::Range(1.0, 3600.0))
      ->option_text("S");
  app.add_option("--bind-to", options.bind_to, "What the launcher binds a rank to, in its words; `none`: nothing. Default: core.")
      ->option_text("HOW");
  app.add_option("--places", options.places, "OMP_PLACES. Default: cores.")->option_text("PLACES");
  app.add_option("--launch-option", options.launch_options, "Another word for the launcher; may be repeated.")
      ->allow_extra_args(false)
      ->option_text("WORD");
}

void add_where(CLI::App& app, StencilOptions& options) {
  app.add_option("--lib-dir", options.lib_dir, "Where libomp.so is. Default, seen from this program: ../lib.")
      ->option_text("DIR");
  app.add_option("--libexec-dir", options.libexec_dir, "Where the measured program is. Default: ../libexec/hierbar.")
      ->option_text("DIR");
  app.add_option("--launcher", options.launcher, "MPICH's mpiexec. Default: mpiexec.mpich or mpiexec.hydra in PATH.")
      ->check(CLI::ExistingFile.description(""))
      ->option_text("FILE");
  app.add_option("--json", options.json_path,
                 "Write everything, raw samples included, to FILE; `-`: to stdout in place of the table.")
      ->option_text("FILE");
}

void fill_defaults(StencilOptions& options) {
  if (options.lib_dir.empty()) options.lib_dir = find_lib_dir(HIERBAR_BENCH_INSTALLED_LIB_DIR, "libomp.so");
  if (options.libexec_dir.empty()) options.libexec_dir = prefix_of_program() / "libexec" / "hierbar";
  // Installed, libomp has a folder of its own below the shim's.
  for (const auto& dir : {options.lib_dir, options.lib_dir.parent_path()}) {
    if (options.shim.empty() && std::filesystem::exists(dir / kShim)) options.shim = dir / kShim;
  }
  if (options.launcher.empty()) options.launcher = find_in_path({"mpiexec.mpich", "mpiexec.hydra"});
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, StencilOptions& options) {
  CLI::App app(kDescription, "stencil_bench");
  app.footer(kFooter);
  app.get_formatter()->column_width(26);
  add_problem(app, options);
  add_run(app, options);
  add_where(app, options);
  try {
    app.parse(argc, argv);
    if (options.rows < static_cast<long>(options.num_ranks) * options.num_threads) {
      throw CLI::ValidationError("--rows", "must not be fewer than ranks x threads");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  fill_defaults(options);
  return std::nullopt;
}

}  // namespace hierbar::bench::stencil

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// stencil_bench: a hybrid stencil with and without placement. `--help` prints its manual.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/child_process.hpp"
#include "bench/common/host.hpp"
#include "bench/common/others.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/common/report/report_text.hpp"
#include "bench/common/run_options.hpp"
#include "bench/common/statistics.hpp"
#include "bench/common/text.hpp"

namespace {

using namespace hierbar::bench;
using hierbar::Disturbance;
using hierbar::LoadMeter;
using nlohmann::json;

struct StencilOptions {
  int num_ranks = 2;
  int num_threads = 2;  // for each rank
  long rows = 512;
  long columns = 512;
  int num_sweeps = 200;
  int num_samples = 3;  // for each launch
  int num_repetitions = 5;
  double timeout_s = 60;
  std::string bind_to = "core";
  std::string places = "cores";
  std::string
      barrier;  // of all threads of all ranks: "hybrid" or "phases"; empty: ranks exchange messages
  std::vector<std::string> launch_options;
  std::string json_path;  // empty: none; "-": stdout, and then no table
  std::filesystem::path lib_dir;
  std::filesystem::path libexec_dir;
  std::filesystem::path shim;      // with `barrier`; empty: there is none
  std::filesystem::path launcher;  // empty: there is none
};

constexpr const char* kShim = "libhierbar_mpi.so";

constexpr const char* kDescription =
    "What placement is worth to a hybrid program: a stencil by MPI ranks that are OpenMP teams, "
    "with and without it.\n"
    "\n"
    "The program solves Laplace's equation by Jacobi's method, with an exchange of borders, three "
    "team barriers and one\n"
    "MPI_Allreduce per sweep, and compares its result with the known one. It runs under MPICH with "
    "this project's libomp, as\n"
    "  off   HIERBAR_PLACE=off: the launcher and libomp place ranks and threads, each for itself\n"
    "  auto  HIERBAR_PLACE=auto: they share the node out along one tree\n"
    "in turns, so that what disturbs the machine disturbs both. A figure is the median over all "
    "samples, the maximum over\n"
    "ranks; the ratio is the middle one of the repetitions' ratios, with their spread.\n"
    "\n"
    "With --barrier the ranks share their memory and read each other's borders there. A sweep then "
    "has one barrier of all\n"
    "threads of all ranks, and nothing else:\n"
    "  hybrid  hierbar_team_barrier (hierbar/mpi.h)\n"
    "  phases  omp barrier, MPI_Barrier in each rank's primary, omp barrier; the MPI_Barrier is "
    "this project's\n";

constexpr const char* kFooter =
    "Environment:\n"
    "  LD_PRELOAD, LD_LIBRARY_PATH and OpenMP's variables are not passed on to the program. "
    "HIERBAR_* settings and those of\n"
    "  MPICH are.\n"
    "\n"
    "Exit status:\n"
    "  0  measured, and all results were correct\n"
    "  1  a result was wrong, or a launch failed\n"
    "  2  wrong arguments, or nothing can be measured\n"
    "\n"
    "Examples:\n"
    "  stencil_bench --ranks 1 --threads 2                    a rank bound to a core, whose "
    "threads stack up on it\n"
    "  stencil_bench --ranks 2 --threads 4 --bind-to none    unbound ranks, which all begin at the "
    "first place\n"
    "  stencil_bench --ranks 2 --threads 2 --barrier hybrid  one barrier of all threads in each "
    "sweep\n"
    "  stencil_bench --ranks 4 --threads 4 --rows 256 --columns 256 --json result.json\n";

// The known result decreases with every sweep, and faster for a smaller square. Within these bounds
// it does not underflow.
void add_problem(CLI::App& app, StencilOptions& options) {
  app.add_option("--ranks", options.num_ranks, "Ranks of the job. Default: 2.")
      ->check(CLI::Range(1, 4096))
      ->option_text("N");
  app.add_option("--threads", options.num_threads, "Threads of each rank. Default: 2.")
      ->check(CLI::Range(1, 4096))
      ->option_text("N");
  app.add_option("--rows", options.rows,
                 "Rows, shared out among ranks and their threads. Default: 512.")
      ->check(CLI::Range(64L, 1L << 20))
      ->option_text("N");
  app.add_option("--columns", options.columns, "Columns. Default: 512.")
      ->check(CLI::Range(64L, 1L << 20))
      ->option_text("N");
  app.add_option("--sweeps", options.num_sweeps, "Sweeps of one sample. Default: 200.")
      ->check(CLI::Range(1, 10000))
      ->option_text("N");
  app.add_option("--barrier", options.barrier,
                 "Share memory, with this barrier: hybrid or phases. Default: exchange messages.")
      ->check(CLI::IsMember({"hybrid", "phases"}).description(""))
      ->option_text("HOW");
}

void add_run(CLI::App& app, StencilOptions& options) {
  app.add_option("--samples", options.num_samples,
                 "Samples of each launch, after one to warm up. Default: 3.")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app.add_option("--reps", options.num_repetitions,
                 "Repetitions, each a launch of both. Default: 5.")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app.add_option("--timeout", options.timeout_s,
                 "Seconds, after which a launch is killed and counts as failed. Default: 60.")
      ->check(CLI::Range(1.0, 3600.0))
      ->option_text("S");
  app.add_option("--bind-to", options.bind_to,
                 "What the launcher binds a rank to, in its words; `none`: nothing. Default: core.")
      ->option_text("HOW");
  app.add_option("--places", options.places, "OMP_PLACES. Default: cores.")->option_text("PLACES");
  app.add_option("--launch-option", options.launch_options,
                 "Another word for the launcher; may be repeated.")
      ->allow_extra_args(false)
      ->option_text("WORD");
}

void add_where(CLI::App& app, StencilOptions& options) {
  app.add_option("--lib-dir", options.lib_dir,
                 "Where libomp.so is. Default, seen from this program: ../lib.")
      ->option_text("DIR");
  app.add_option("--libexec-dir", options.libexec_dir,
                 "Where the measured program is. Default: ../libexec/hierbar.")
      ->option_text("DIR");
  app.add_option("--launcher", options.launcher,
                 "MPICH's mpiexec. Default: mpiexec.mpich or mpiexec.hydra in PATH.")
      ->check(CLI::ExistingFile.description(""))
      ->option_text("FILE");
  app.add_option(
         "--json", options.json_path,
         "Write everything, raw samples included, to FILE; `-`: to stdout in place of the table.")
      ->option_text("FILE");
}

void fill_defaults(StencilOptions& options) {
  if (options.lib_dir.empty())
    options.lib_dir = find_lib_dir(HIERBAR_BENCH_INSTALLED_LIB_DIR, "libomp.so");
  if (options.libexec_dir.empty())
    options.libexec_dir = prefix_of_program() / "libexec" / "hierbar";
  // Installed, libomp has a folder of its own below the shim's.
  for (const auto& dir : {options.lib_dir, options.lib_dir.parent_path()}) {
    if (options.shim.empty() && std::filesystem::exists(dir / kShim)) options.shim = dir / kShim;
  }
  if (options.launcher.empty()) options.launcher = find_in_path({"mpiexec.mpich", "mpiexec.hydra"});
}

// Returns nothing if the program goes on with `options`. Otherwise returns the exit status; the
// message has been printed.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, StencilOptions& options) {
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

// The program ends itself, and with it its launcher, so many seconds before it would be killed.
constexpr int kBeforeKillS = 2;

// The launches with one value of HIERBAR_PLACE.
struct Variant {
  const char* place;
  SamplesByRepetition us_per_sweep;
  json last_answer;
  std::string failure;  // empty if all launches were correct
};

std::vector<std::string> launch_command(const StencilOptions& options, const char* place) {
  std::vector<std::string> command{options.launcher};
  const auto set = [&command](const char* name, const std::string& value) {
    command.insert(command.end(), {"-genv", name, value});
  };
  set("LD_LIBRARY_PATH", std::filesystem::absolute(options.lib_dir));
  set("KMP_BARRIER", "hier");
  if (!options.barrier.empty()) set("LD_PRELOAD", std::filesystem::absolute(options.shim));
  set("HIERBAR_PLACE", place);
  set("OMP_NUM_THREADS", std::to_string(options.num_threads));
  set("OMP_PLACES", options.places);
  if (options.bind_to != "none") command.insert(command.end(), {"-bind-to", options.bind_to});
  command.insert(command.end(), options.launch_options.begin(), options.launch_options.end());
  const int limit_s = std::max(1, static_cast<int>(options.timeout_s) - kBeforeKillS);
  command.insert(command.end(),
                 {"-n", std::to_string(options.num_ranks), options.libexec_dir / "stencil_worker",
                  std::to_string(options.rows), std::to_string(options.columns),
                  std::to_string(options.num_sweeps), std::to_string(options.num_samples),
                  std::to_string(limit_s), options.barrier.empty() ? "messages" : options.barrier});
  return command;
}

void measure_launch(const StencilOptions& options, int repetition, Variant& variant) {
  const std::chrono::milliseconds timeout(static_cast<long>(1000 * options.timeout_s));
  const ChildResult result = run_child(launch_command(options, variant.place), {}, timeout);
  // Libraries may have written something before the answer.
  const std::size_t begin = result.output.find('{');
  const json answer =
      json::parse(begin == std::string::npos ? "" : result.output.substr(begin), nullptr, false);
  if (answer.is_discarded() || !answer.contains("correct")) {
    variant.failure =
        result.failure.empty() ? "the program's answer cannot be read" : result.failure;
    fmt::print(stderr, "stencil_bench: {}: {}\n{}", variant.place, variant.failure, result.errors);
    return;
  }
  variant.last_answer = answer;
  if (!answer["correct"]) {
    variant.failure =
        fmt::format("the result is wrong: it deviates by {}", answer["deviation"].get<double>());
    fmt::print(stderr, "stencil_bench: {}: {}\n", variant.place, variant.failure);
    return;
  }
  variant.us_per_sweep[repetition] = answer["us_per_sweep"].get<std::vector<double>>();
}

std::string header_text(const StencilOptions& options) {
  return host_text(describe_host()) + fmt::format("bench      revision {}\n", kRevision) +
         fmt::format("stencil    {} x {} points, {} a sample, {} of each launch, {}\n",
                     options.rows, options.columns, counted(options.num_sweeps, "sweep"),
                     counted(options.num_samples, "sample"),
                     counted(options.num_repetitions, "repetition")) +
         fmt::format(
             "placed     {}, {} each; mpiexec -bind-to {}, OMP_PLACES={}, KMP_BARRIER=hier\n",
             counted(options.num_ranks, "rank"), counted(options.num_threads, "thread"),
             options.bind_to, options.places) +
         fmt::format("ranks      {}\n\n", options.barrier.empty()
                                              ? "exchange messages"
                                              : "share memory, --barrier " + options.barrier);
}

std::string row_text(const Variant& variant) {
  const auto summary = summarize(pooled(variant.us_per_sweep));
  if (!summary) return fmt::format("  {:<18}{}\n", variant.place, variant.failure);
  return fmt::format("  {:<18}{:>10.1f}  {:>10.1f} .. {:<10.1f}{:>6}{:>16}\n", variant.place,
                     summary->median, summary->lower_quartile, summary->upper_quartile,
                     variant.last_answer["cpus"].get<int>(),
                     variant.last_answer["most_threads_on_one_cpu"].get<int>());
}

std::string table_text(const std::array<Variant, 2>& variants, const Disturbance& disturbance) {
  std::string text = fmt::format("  {:<18}{:>10}  {:^24}{:>6}{:>16}\n", "HIERBAR_PLACE", "us/sweep",
                                 "quartiles", "cpus", "bound to one");
  for (const Variant& variant : variants) text += row_text(variant);
  if (const auto ratio = ratio_of_medians(variants[0].us_per_sweep, variants[1].us_per_sweep)) {
    text +=
        fmt::format("  {:<18}{:>10}  {:^24}\n", "off / auto",
                    is_clear(*ratio) ? ratio_text(ratio->value) : "unclear", spread_text(*ratio));
  }
  return text +
         "\ncpus: that any thread may use; bound to one: the most threads that are bound to the "
         "same cpu\n" +
         disturbance_text(disturbance) + "\n";
}

json variant_json(const Variant& variant) {
  json samples = json::array();
  for (const auto& [repetition, values] : variant.us_per_sweep) samples.push_back(values);
  return {{"place", variant.place},
          {"us_per_sweep", samples},
          {"last_answer", variant.last_answer},
          {"failure", or_null(variant.failure)}};
}

json report_json(const StencilOptions& options, const std::array<Variant, 2>& variants,
                 const Disturbance& disturbance) {
  json report{{"host", to_json(describe_host())},
              {"revision", kRevision},
              {"ranks", options.num_ranks},
              {"threads", options.num_threads},
              {"rows", options.rows},
              {"columns", options.columns},
              {"sweeps", options.num_sweeps},
              {"bind_to", options.bind_to},
              {"places", options.places},
              {"barrier", or_null(options.barrier)}};
  for (const Variant& variant : variants) report["variants"].push_back(variant_json(variant));
  report["cpu_share_taken"] = disturbance.share();
  const auto ratio = ratio_of_medians(variants[0].us_per_sweep, variants[1].us_per_sweep);
  report["off_over_auto"] = nullptr;
  if (ratio) {
    report["off_over_auto"] = {{"value", ratio->value},
                               {"lowest", ratio->lowest},
                               {"highest", ratio->highest},
                               {"doubt", is_clear(*ratio) ? json() : json("unclear")}};
  }
  return report;
}

int run(const StencilOptions& options) {
  if (options.launcher.empty()) {
    fmt::print(stderr,
               "stencil_bench: no mpiexec.mpich or mpiexec.hydra in PATH (Debian: mpich)\n");
    return kUsage;
  }
  if (!options.barrier.empty() && options.shim.empty()) {
    fmt::print(stderr,
               "stencil_bench: --barrier {}: no libhierbar_mpi.so in {} or above it (--lib-dir)\n",
               options.barrier, options.lib_dir.string());
    return kUsage;
  }
  JsonOutput output(options.json_path);
  const bool table = options.json_path != "-";
  if (table) fmt::print("{}", header_text(options));
  std::fflush(stdout);
  const LoadMeter meter;
  std::array<Variant, 2> variants{{{"off", {}, {}, ""}, {"auto", {}, {}, ""}}};
  for (int repetition = 0; repetition < options.num_repetitions; ++repetition) {
    // The two take turns at being the first.
    for (std::size_t turn = 0; turn < 2; ++turn)
      measure_launch(options, repetition, variants[(turn + repetition) % 2]);
  }
  const Disturbance disturbance = meter.since_start();
  if (table) fmt::print("{}", table_text(variants, disturbance));
  output.write(report_json(options, variants, disturbance));
  return std::all_of(variants.begin(), variants.end(),
                     [](const Variant& variant) { return variant.failure.empty(); })
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_driver<StencilOptions>("stencil_bench", argc, argv, parse_options, run);
}

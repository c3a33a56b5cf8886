// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/omp/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "bench/runtimes/omp/configuration.hpp"
#include "bench/runtimes/omp/constructs.hpp"

namespace hierbar::bench::omp {
namespace {

constexpr const char* kDescription =
    "Measures what OpenMP constructs cost under different runtimes and barriers, side by side.\n"
    "\n"
    "Every configuration runs in processes of its own, and all configurations take turns inside "
    "every repetition, so that\n"
    "what disturbs the machine disturbs all of them. Between them the physical floors of the "
    "machine are measured with plain\n"
    "threads: what one cache line needs from cpu to cpu, and what the least exchange of arrivals "
    "costs. A figure is the median\n"
    "over all batches; a ratio is the middle one of the repetitions' ratios, with their spread. A "
    "virtual machine's cpus may be\n"
    "neighbours at one moment (regime near: one way < 80 ns) and far apart at the next (far: > 150 "
    "ns): repetitions in which\n"
    "that changed are left out and repeated.\n";

constexpr const char* kEnvironmentHelp =
    "Environment:\n"
    "  KMP_*, OMP_*, GOMP_*, LD_LIBRARY_PATH and LD_PRELOAD are not passed on to the measured "
    "programs; each configuration sets "
    "what\n"
    "  it needs. HIERBAR_* settings are passed on.\n"
    "\n";

constexpr const char* kExamplesHelp =
    "Examples:\n"
    "  omp_barrier_bench --quick                            the whole picture in about two "
    "minutes\n"
    "  omp_barrier_bench --threads 2 --constructs barrier   one table\n"
    "  omp_barrier_bench --threads 8 --constructs decode,decode-regions --brief\n"
    "                                                       the share of synchronisation in a "
    "decode\n"
    "  omp_barrier_bench --check --json result.json         for a record\n"
    "  omp_barrier_bench --tools --check                    what libhierbar_ompt.so costs\n"
    "  omp_barrier_bench --passive --configs hier,hyper     waiting threads give up their cpus\n";

// Values of the command line that Options store in another form.
struct Arguments {
  std::string binding = "auto";
};

constexpr RunHelp kRunHelp = {
    .repetitions = "Repetitions. Default: 10; 100 with --tools; 5 with --quick.",
    .budget = "Measured time of each process. Default: 60; 40 with --quick.",
    .extra_repetitions =
        "How many repetitions may be repeated, for each team size and construct, because the "
        "regime\n"
        "changed. Default: as many as --reps.",
    .timeout = "Seconds, after which a process is killed and counts as failed. Default: 20.",
    .lib_dir =
        "Where hierbar's libomp.so is. Default, seen from this program: ../lib; where it is "
        "installed: ../lib/hierbar.",
    .list = "Show the configurations, what they set and which library they load, and stop."};

std::string construct_help() {
  std::string text = "What to measure, separated by commas. Default: all.";
  for (const ConstructName& construct : kConstructs)
    text += fmt::format("\n{:<16}{}", construct.name, construct.explains);
  return text;
}

std::string configuration_help() {
  std::string text =
      "Which configurations, separated by commas. `default` (those marked *) and `all` stand for "
      "several.";
  for (const KnownConfiguration& known : kConfigurations) {
    text += fmt::format("\n{}{:<18}{}", known.by_default ? "* " : "  ", known.name, known.explains);
  }
  return text;
}

template <class Names>
CLI::Validator one_of(const Names& names, std::vector<std::string> more = {}) {
  std::vector<std::string> allowed = std::move(more);
  for (const auto& entry : names) allowed.emplace_back(entry.name);
  return CLI::IsMember(allowed).description("");
}

bool is_blocktime(const std::string& text) {
  return text == "infinite" ||
         (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos);
}

void add_what(CLI::App& app, OmpBenchOptions& options) {
  app.add_option("--threads", options.thread_counts,
                 "Threads of the team, several numbers separated by commas. Default: 1, 2, 4 and 8 "
                 "times the cpus,\nfrom 2 to 16; and `tasks` also with 1; the decodes with all "
                 "cpus, a quarter of them, a sixteenth ..., from 2.")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->option_text("N,...");
  app.add_option("--constructs", options.constructs, construct_help())
      ->delimiter(',')
      ->check(one_of(kConstructs))
      ->option_text("NAME,...");
  CLI::Option* configs = app.add_option("--configs", options.configurations, configuration_help())
                             ->delimiter(',')
                             ->check(one_of(kConfigurations, {"default", "all"}))
                             ->option_text("NAME,...");
  app.add_option("--reference", options.reference,
                 "The configuration that the others are compared with. Default: hier.")
      ->check(one_of(kConfigurations))
      ->option_text("NAME");
  app.add_flag(
         "--tools", options.tools,
         "Measure what an OMPT tool costs: hier without one, with one that does nothing, with\n"
         "libhierbar_ompt.so recording every barrier, and one in 64. Means --threads 2 "
         "--constructs barrier\n"
         "unless these are given. With --check only these targets are judged, both above the tool "
         "that\n"
         "does nothing: recording every barrier costs no more than its clock readings and 10 ns, "
         "one\n"
         "in 64 no more than 5 % or 5 ns.")
      ->excludes(configs);
  app.add_option("--delay-ns", options.delay_ns,
                 "Work in front of each construct, subtracted from the figure. Default: 0.")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("NS");
}

void add_graph(CLI::App& app, OmpBenchOptions& options) {
  app.add_option(
         "--operations", options.graph.num_operations,
         "Operations of a decode's graph. Default: 2000. Its tables also have the ideal, "
         "which is the\n"
         "graph's work divided among the cpus, and the share of the rest of the time, which "
         "is\n"
         "synchronisation. `spin` is a barrier of two counters among plain threads, as "
         "programs without\n"
         "OpenMP have, and `work` the ideal as a floor.")
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  app.add_option("--graph-seed", options.graph.seed,
                 "Of the operations' sizes: the work of each, in all threads together, is between\n"
                 "1 and 50 us, its logarithm distributed evenly. Equal seeds give equal sizes. "
                 "Default: 1.")
      ->option_text("N");
  app.add_option("--graph-ms", options.graph.work_ms,
                 "Work of the whole graph in all threads together, which scales every operation: "
                 "what one thread\n"
                 "needs for a token of your model. Default: as the sizes are drawn, 25.2 with 2000 "
                 "operations.")
      ->check(CLI::Range(0.001, 1e6))
      ->option_text("MS");
}

void add_how(CLI::App& app, OmpBenchOptions& options, Arguments& arguments) {
  app.add_option("--bind", arguments.binding,
                 "OMP_PLACES=cores OMP_PROC_BIND=close for every runtime: `auto` as long as the "
                 "threads do not\n"
                 "outnumber the cpus, `always` or `never`. Default: auto.")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->option_text("WHEN");
  app.add_flag("--passive", options.passive, "OMP_WAIT_POLICY=passive for every runtime.");
  app.add_option("--blocktime", options.blocktime,
                 "KMP_BLOCKTIME in ms, or `infinite`; libgomp gets GOMP_SPINCOUNT=0 for 0 and "
                 "`infinite` for\n"
                 "infinite. Default: not set.")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return is_blocktime(text) ? "" : "not a number of ms or `infinite`: " + text;
          },
          ""))
      ->option_text("MS");
  add_repetition_options(app, options, kRunHelp);
}

void add_where(CLI::App& app, OmpBenchOptions& options) {
  add_place_options(app, options, kRunHelp);
  app.add_option(
         "--stock-dir", options.stock_dir,
         "Where the unpatched build of the same libomp is, if there is one. Default: ../stock/lib.")
      ->option_text("DIR");
  app.add_option("--peer-libomp", options.peer_libomp,
                 "The system's libomp. Default: what the loader finds.")
      ->check(CLI::ExistingFile.description(""))
      ->option_text("FILE");
  app.add_option("--peer-libgomp", options.peer_libgomp,
                 "The system's libgomp. Default: what the loader finds.")
      ->check(CLI::ExistingFile.description(""))
      ->option_text("FILE");
}

// The cost of a tool is a small difference of two figures. With 10 repetitions its error is about
// 10 ns.
constexpr int kToolRepetitions = 100;

void fill_defaults(OmpBenchOptions& options, const CLI::App& app, const Arguments& arguments) {
  if (options.tools && app.count("--reps") == 0) options.num_repetitions = kToolRepetitions;
  fill_run_defaults(options, app, {.num_repetitions = 5, .budget_ms = 40});
  if (options.tools) {
    options.configurations = {"hier", std::string(kNoopTool), std::string(kFullTool),
                              std::string(kSampledTool)};
    if (options.thread_counts.empty()) options.thread_counts = {2};
    if (options.constructs.empty()) options.constructs = {"barrier"};
  }
  if (options.lib_dir.empty())
    options.lib_dir = find_lib_dir(HIERBAR_BENCH_INSTALLED_LIB_DIR "/hierbar", "libomp.so");
  if (options.stock_dir.empty()) options.stock_dir = prefix_of_program() / "stock" / "lib";
  options.binding = arguments.binding == "always"  ? Binding::kAlways
                    : arguments.binding == "never" ? Binding::kNever
                                                   : Binding::kAuto;
  sort_and_drop_repeated(options.thread_counts);
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, OmpBenchOptions& options) {
  CLI::App app(kDescription, options.kProgram);
  app.footer(std::string(kEnvironmentHelp) + kExitStatusHelp + kExamplesHelp);
  app.get_formatter()->column_width(24);
  Arguments arguments;
  add_what(app, options);
  add_graph(app, options);
  add_how(app, options, arguments);
  add_where(app, options);
  add_output_options(app, options, kRunHelp);
  app.add_flag("--brief", options.brief, "Only the overview, one row per configuration.");
  if (const auto status = parse_command_line(app, argc, argv)) return status;
  fill_defaults(options, app, arguments);
  return std::nullopt;
}

}  // namespace hierbar::bench::omp

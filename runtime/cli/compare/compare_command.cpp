// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include "cli/commands.hpp"

#include <charconv>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/compare/compare_words.hpp"
#include "cli/compare/compared_runs.hpp"
#include "cli/compare/own_figure.hpp"
#include "cli/compare/paired_ratios.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/option/mpi_option.hpp"
#include "cli/program/program.hpp"
#include "cli/program/run_settings.hpp"

namespace hierbar {
namespace {

constexpr int kExitDiffers = 1;
constexpr std::uint32_t kMostRuns = 1000;
constexpr double kMostSeconds = 3600;

struct CompareOptions {
  std::string mpi;
  std::string runs;
  std::string time_limit = "120";
  std::string time;
  bool rate = false;
  bool ignore_output = false;
  bool ignore_failure = false;
  bool quiet = false;
};

// What stands at the beginning of a line on stderr while the program runs; on a terminal one line
// is written again and again.
void show(const CompareProgress& progress) {
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  std::string text = "hierbar compare: ";
  if (progress.round == 0) {
    text += "warm-up";
  } else {
    text += format_text("pair %zu of %zu, %.0f s left", progress.round, progress.num_rounds,
                        progress.seconds_left);
  }
  text += ": " + progress.way.name;
  std::cerr << (is_terminal ? "\r\033[K" + text : text + "\n") << std::flush;
}

void clear_progress() {
  if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\033[K" << std::flush;
}

Way way_with_hierbar(const CompareOptions& options, const Program& program) {
  const RunSettings settings =
      choose_run_settings(program, chosen_family(options.mpi, program), {}, find_libraries(),
                          read_machine_facts(), own_environment());
  Way way{.name = "hierbar", .command = settings.command, .variables = {}, .is_ours = true};
  for (const RunSettings::Variable& variable : settings.variables)
    way.variables.emplace_back(variable.name, variable.value);
  return way;
}

double parse_seconds(const std::string& text) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, seconds);
  if (problem != std::errc() || stop != end || !(seconds > 0) || seconds > kMostSeconds)
    refuse("--time-limit", text, "no such time", "seconds, above 0 up to 3600");
  return seconds;
}

CompareRequest read_request(const CompareOptions& options, const Program& program) {
  if (program.empty()) {
    throw CLI::ValidationError("compare",
                               "no program; put it behind '--', as in 'hierbar compare -- ./app'");
  }
  if (find_in_path(program.front()).empty())
    refuse("PROGRAM", program.front(), "there is no such program",
           "a program in PATH, or the path of one");
  CompareRequest request{.limit_seconds = parse_seconds(options.time_limit),
                         .ignores_output = options.ignore_output,
                         .ignores_failure = options.ignore_failure};
  if (!options.runs.empty()) {
    request.num_rounds = parse_count(options.runs, kMostRuns);
    if (request.num_rounds == 0)
      refuse("--runs", options.runs, "no such number", "1 to " + std::to_string(kMostRuns));
  }
  if (!options.time.empty())
    request.figure = accept(OwnFigure::parse(options.time), "--time", options.time,
                            "a regular expression (ECMAScript) with one group in parentheses, in "
                            "which the number stands");
  request.ways = {{.name = "as it is", .command = program}, way_with_hierbar(options, program)};
  if (!options.quiet) request.say = show;
  return request;
}

// The answer, in one line.
std::string answer(const Comparison& comparison, const FigureKind& kind) {
  const WayRuns& ours = comparison.ways[1];
  if (ours.inactivity) return "not active: " + ours.inactivity->words;
  const std::uint64_t num_served = ours.last.barriers.num_served();
  return describe(ratio_of(ours, comparison.ways[0]), kind) + ", " + grouped(num_served) +
         (num_served == 1 ? " barrier served" : " barriers served");
}

int report(const CompareRequest& request, const Comparison& comparison, const FigureKind& kind) {
  if (comparison.failure) {
    std::cerr << "hierbar compare: "
              << describe(*comparison.failure, request.ways[comparison.failure->way].name) << '\n';
    return kExitDiffers;
  }
  std::cout << "hierbar compare: " << answer(comparison, kind) << '\n';
  if (comparison.num_rounds() > 0) {
    for (const std::string& line : describe_ways(request, comparison, kind))
      std::cout << "  " << line << '\n';
  }
  for (const std::string& line : find_doubts(request, comparison))
    std::cout << "  note: " << line << '\n';
  bool differs = false;
  for (std::size_t i = 1; i < request.ways.size(); ++i) {
    const std::string text = describe(comparison.ways[i].difference, request.ways[i].name);
    if (!text.empty()) std::cout << "  " << text << '\n';
    differs = differs || !text.empty();
  }
  if (comparison.asked_to_end != 0) return 128 + comparison.asked_to_end;
  if (differs) return kExitDiffers;
  return comparison.is_active ? 0 : kExitNotActive;
}

int compare(const CompareOptions& options, const Program& program) {
  const CompareRequest request = read_request(options, program);
  const Result<Comparison> comparison = compare_ways(request);
  if (!options.quiet) clear_progress();
  if (!comparison) {
    std::cerr << "hierbar compare: " << comparison.error() << '\n';
    return kExitBadInput;
  }
  return report(request, *comparison,
                {.is_own = request.figure.has_value(), .larger_is_better = options.rate});
}

constexpr const char* kCompareHelp =
    "hierbar compare [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs the program as it is and with what 'hierbar run' sets, in turns, and answers in one "
    "line:\n"
    "  faster, 0.86 of its time (0.83 to 0.88, 9 pairs), 2,000 barriers served\n"
    "0.86 is the median of the ratios of all pairs, and in parentheses is the range in which the "
    "median lies with 95 %.\n"
    "If that contains 1, or the median is 1.00, there is no difference beyond the noise. If no "
    "barrier is served in the first\n"
    "run, the answer is 'not active' with the reason, as 'hierbar run' gives it.\n"
    "\n"
    "Order: each way runs once to warm up, then pairs follow, each in the other order than the one "
    "before. If the warm-up\n"
    "takes more than a third of --time-limit, it counts as the first pair. ^C ends the runs and "
    "gives the answer for the\n"
    "pairs that are complete.\n"
    "\n"
    "What the program prints is not shown. Its stdout and exit status are compared, and "
    "differences are told; lines in\n"
    "which the runs as it is differ from each other, and those of --time, do not count. A file as "
    "stdin is read by each run\n"
    "from the same place; otherwise stdin is empty.\n"
    "\n"
    "The time of a run is that from the start of its process to its end. This command does "
    "nothing meanwhile. The libraries\n"
    "of hierbar make the start of a process some milliseconds longer, which counts.\n"
    "\n"
    "Exit codes: 0 compared, 1 the two ways print different things or end differently, or the "
    "program fails, 2 bad options,\n"
    "3 no barrier was served, 128 and its number after a signal.\n"
    "\n"
    "Examples:\n"
    "  hierbar compare -- ./app\n"
    "  OMP_PLACES=cores hierbar compare --runs 10 -- ./app\n"
    "  hierbar compare --time 'Time in seconds = *([0-9.]+)' -- ./cg.A.x\n"
    "  hierbar compare --time '([0-9.]+) ns/day' --rate -- mpiexec -n 4 ./md\n";

}  // namespace

void add_compare_command(CLI::App& app, const Program& program) {
  CLI::App* command =
      app.add_subcommand("compare", "Say whether a program takes less time under 'hierbar run'");
  auto options = std::make_shared<CompareOptions>();
  command
      ->add_option("--runs", options->runs,
                   "Pairs of runs; default: as many as fit into --time-limit, from 3 to 30")
      ->type_name("N");
  command
      ->add_option("--time-limit", options->time_limit,
                   "Seconds, above 0 up to 3600, that all pairs may take if --runs does not say "
                   "how many; default: 120.\n"
                   "Three pairs run in any case, however long they take")
      ->type_name("SECONDS");
  CLI::Option* time =
      command
          ->add_option("--time", options->time,
                       "Take the time that the program prints: REGEX has one group, in which the "
                       "number stands; the last\n"
                       "match in stdout counts, or in stderr if stdout has none. Default: the time "
                       "from the program's start to its end")
          ->type_name("REGEX");
  command->add_flag("--rate", options->rate, "Larger is better in what --time reads")->needs(time);
  command->add_flag("--ignore-output", options->ignore_output,
                    "Do not compare what the program prints");
  command->add_flag("--ignore-failure", options->ignore_failure,
                    "Compare a program whose exit status is not 0");
  add_mpi_option(*command, options->mpi);
  command->add_flag("-q,--quiet", options->quiet, "Say nothing while the program runs");
  refuse_name(*command, "--rounds", "--runs, pairs of runs");
  command->footer(kCompareHelp);
  command->callback([options, &program] { throw CLI::RuntimeError(compare(*options, program)); });
}

}  // namespace hierbar

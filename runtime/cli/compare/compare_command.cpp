// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include "cli/commands.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/compare/compare_json.hpp"
#include "cli/compare/compare_words.hpp"
#include "cli/compare/compared_runs.hpp"
#include "cli/compare/other_runtimes.hpp"
#include "cli/compare/own_figure.hpp"
#include "cli/compare/paired_ratios.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/option/mpi_option.hpp"
#include "cli/program/program.hpp"

namespace hierbar {
namespace {

using nlohmann::ordered_json;

constexpr const char* kStdout = "-";
constexpr int kExitDiffers = 1;
constexpr std::uint32_t kMostRuns = 1000;

struct CompareOptions {
  std::string mpi;
  std::string runs;
  std::string time_limit = "120";
  std::string time;
  bool rate = false;
  std::string result;
  bool ignore_output = false;
  bool ignore_failure = false;
  bool quiet = false;
  std::vector<std::string> with;
  std::string threads;
  std::string json;
};

// On a terminal one line is written again and again; elsewhere each round has one.
void show_progress(const CompareProgress& progress) {
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  std::string text = "hierbar compare: ";
  if (progress.round == 0) {
    text += "warm-up";
  } else {
    text += format_text("round %zu of %zu, %.0f s left", progress.round, progress.num_rounds,
                        progress.seconds_left);
  }
  if (is_terminal) {
    std::cerr << "\r\033[K" + text + ": " + label(progress.way) << std::flush;
  } else if (progress.is_first_of_round) {
    std::cerr << text << '\n';
  }
}

void clear_progress() {
  if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\033[K" << std::flush;
}

// Those of --with that the program can run on.
std::vector<OtherRuntime> find_others(const CompareOptions& options, const Program& program) {
  std::vector<OtherRuntime> others;
  if (options.with.empty()) return others;
  const Result<ProgramFacts> facts = gather_facts(program);
  for (const std::string& word : options.with) {
    const OtherRuntime runtime =
        accept(find_other_runtime(word), "--with", word,
               std::string("a list of ") + kRuntimeNames +
                   ", each alone or with the path of its file or directory, as in libomp=/opt/lib");
    const std::string objection = facts ? objection_to(runtime, *facts) : facts.error();
    if (objection.empty()) {
      others.push_back(runtime);
    } else if (!options.quiet) {
      std::cerr << "hierbar compare: --with " << runtime.name << " is left out: " << objection
                << '\n';
    }
  }
  return others;
}

WaysRequest read_ways(const CompareOptions& options, const Program& program) {
  WaysRequest request{.program = program,
                      .mpi = chosen_family(options.mpi, program),
                      .others = find_others(options, program)};
  if (!options.threads.empty())
    request.team_sizes = parse_counts("--threads", options.threads, kMaxThreads);
  return request;
}

CompareRequest read_request(const CompareOptions& options, const Program& program) {
  if (program.empty()) {
    throw CLI::ValidationError("compare",
                               "no program; put it after '--', as in 'hierbar compare -- ./app'");
  }
  if (find_in_path(program.front()).empty())
    refuse("PROGRAM", program.front(), "there is no such program",
           "a program in PATH, or the path of one");
  CompareRequest request{.limit_seconds = parse_time_limit(options.time_limit),
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
  if (!options.result.empty())
    request.result = accept(ResultLines::parse(options.result), "--result", options.result,
                            "a regular expression (ECMAScript)");
  request.ways = make_ways(read_ways(options, program));
  if (!options.quiet) request.say = show_progress;
  return request;
}

// What a comparison is made of, for the functions that print it.
struct Findings {
  const CompareRequest& request;
  const Comparison& comparison;
  FigureKind kind;

  std::size_t best(const std::string& name) const {
    return find_best(request, comparison, kind, name).way;
  }
  std::string ratio(std::size_t way, std::size_t base, const std::string& whose) const {
    return describe(ratio_of(comparison.ways[way], comparison.ways[base]), kind, whose);
  }
};

// The answer, in one line. Where several team sizes are compared, the best of both are.
std::string answer(const Findings& found) {
  const Comparison& comparison = found.comparison;
  const WayRuns& first = comparison.ways[1];
  if (!comparison.is_active && first.inactivity) return "not active: " + first.inactivity->words;
  if (comparison.num_rounds() == 0) return "no pair of runs is complete";
  const std::size_t ours = found.best(kHierbarWay);
  const std::string ratio = found.ratio(ours, found.best(kPlainWay), "its");
  if (const auto& inactivity = comparison.ways[ours].inactivity)
    return ratio + ", no barrier served: " + inactivity->words;
  const std::uint64_t num_served = comparison.ways[ours].last.barriers.num_served();
  return ratio + ", " + grouped(num_served) +
         (num_served == 1 ? " barrier served" : " barriers served");
}

// The best team sizes, and how other runtimes stand to the program as it is and to hierbar.
std::vector<std::string> further_lines(const Findings& found) {
  std::vector<std::string> names;  // of ways, in their order
  for (const Way& way : found.request.ways) {
    if (std::find(names.begin(), names.end(), way.name) == names.end()) names.push_back(way.name);
  }
  std::vector<std::string> lines;
  for (const std::string& name : names) {
    if (found.request.ways.front().team_size == 0) break;
    lines.push_back(describe(find_best(found.request, found.comparison, found.kind, name),
                             found.request, found.comparison, found.kind));
  }
  for (const std::string& name : names) {
    if (name == kPlainWay || name == kHierbarWay) continue;
    const std::size_t way = found.best(name);
    lines.push_back(name + ": " + found.ratio(way, found.best(kPlainWay), "the program's"));
    lines.push_back("hierbar: " + found.ratio(found.best(kHierbarWay), way, name + "'s"));
  }
  return lines;
}

// Prints the report, and returns whether the ways differ in their output.
bool print_report(std::ostream& out, const Findings& found) {
  const auto& [request, comparison, kind] = found;
  out << "hierbar compare: " << answer(found) << '\n';
  if (comparison.num_rounds() > 0) {
    for (const std::string& line : describe_ways(request, comparison, kind))
      out << "  " << line << '\n';
    for (const std::string& line : further_lines(found)) out << "  " << line << '\n';
  }
  for (const std::string& line : find_doubts(request, comparison))
    out << "  note: " << line << '\n';
  bool differs = false;
  for (std::size_t i = 0; i < request.ways.size(); ++i) {
    const std::string text = describe(comparison.ways[i].difference, label(request.ways[i]));
    if (!text.empty()) out << "  " << text << '\n';
    differs = differs || !text.empty();
  }
  return differs;
}

// The file of --json. It is made before the runs, so that these are not lost to one that cannot be
// written.
class JsonFile {
 public:
  explicit JsonFile(const std::string& path) {
    if (path == kStdout || path.empty()) return;
    file_.emplace(path);
    if (!file_->problem().empty()) throw CLI::ValidationError("--json", file_->problem());
  }

  // Returns what went wrong, or an empty string.
  std::string write(const Findings& found) {
    // A program may print what is no UTF-8.
    constexpr auto kReplace = ordered_json::error_handler_t::replace;
    const std::string text = comparison_as_json(found.request, found.comparison, found.kind)
                                 .dump(2, ' ', false, kReplace);
    if (file_) return file_->finish(text + "\n");
    std::cout << text << '\n';
    return "";
  }

 private:
  std::optional<NewFile> file_;
};

int exit_code(const Comparison& comparison, bool differs) {
  if (comparison.failure) return kExitDiffers;
  if (comparison.asked_to_end != 0) return 128 + comparison.asked_to_end;
  if (differs) return kExitDiffers;
  return comparison.is_active ? 0 : kExitNotActive;
}

int compare(const CompareOptions& options, const Program& program) {
  const CompareRequest request = read_request(options, program);
  if (!options.quiet) {
    for (const std::string& message : misspelt_variables())
      std::cerr << "hierbar compare: " << message << '\n';
  }
  JsonFile json(options.json);
  const Result<Comparison> comparison = compare_ways(request);
  if (!options.quiet) clear_progress();
  if (!comparison) {
    std::cerr << "hierbar compare: " << comparison.error() << '\n';
    return kExitBadInput;
  }
  const Findings found{
      .request = request,
      .comparison = *comparison,
      .kind = {.is_own = request.figure.has_value(), .larger_is_better = options.rate}};
  bool differs = false;
  if (const auto& failure = comparison->failure) {
    std::cerr << "hierbar compare: " << describe(*failure, request) << '\n';
  } else {
    differs = print_report(options.json == kStdout ? std::cerr : std::cout, found);
  }
  const std::string problem = options.json.empty() ? "" : json.write(found);
  if (!problem.empty()) {
    std::cerr << "hierbar compare: --json: " << problem << '\n';
    return kExitBadInput;
  }
  return exit_code(*comparison, differs);
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
    "The time of a run is that from the start of its process to its end. This command sleeps "
    "meanwhile. The libraries of\n"
    "hierbar make the start of a process some milliseconds longer, which counts.\n"
    "\n"
    "--with looks for a runtime where the loader does; libomp is first looked for in the build of "
    "this command, and last in\n"
    "/usr/lib/llvm-*. It comes in front of the program's own by LD_PRELOAD, with no other "
    "setting. The program as it is runs\n"
    "on the runtime that it was built for, GCC's on libgomp.\n"
    "\n"
    "Exit codes: 0 compared, 1 the two ways print different things or end differently, or the "
    "program fails, 2 bad options,\n"
    "3 no barrier was served, 128 and its number after a signal.\n"
    "\n"
    "Examples:\n"
    "  hierbar compare -- ./app\n"
    "  OMP_PLACES=cores hierbar compare --runs 10 --with libomp -- ./app\n"
    "  hierbar compare --threads 1,2,4,8 -- ./app\n"
    "  hierbar compare --time 'Time in seconds = *([0-9.]+)' -- ./cg.A.x\n"
    "  hierbar compare --time 'Performance: +([0-9.]+)' --rate -- gmx mdrun -pin off -deffnm md\n"
    "  hierbar compare --result '^Energy' -- ./app\n"
    "  hierbar compare --json cost.json -- mpiexec -n 4 ./app\n";

// What is run, and how often.
void add_run_options(CLI::App& command, CompareOptions& options) {
  command
      .add_option("--runs", options.runs,
                  "Pairs of runs; default: as many as fit into --time-limit, from 3 to 30")
      ->type_name("N");
  command
      .add_option(kTimeLimitOption, options.time_limit,
                  "Seconds, above 0 up to 3600, that all pairs may take if --runs does not say "
                  "how many; default: 120.\n"
                  "Three pairs run in any case, however long they take")
      ->type_name("SECONDS");
  command
      .add_option("--with", options.with,
                  "Runtimes to compare with, too: libgomp, libomp, libiomp5, each alone or with "
                  "the path of its file or directory")
      ->type_name("NAME[=PATH]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("-t,--threads", options.threads,
                  "Threads of each rank: a list of team sizes to try (OMP_NUM_THREADS); default: "
                  "what the environment says")
      ->type_name("N,...");
  add_mpi_option(command, options.mpi);
}

// What is read of a run, and how the answer is given.
void add_answer_options(CLI::App& command, CompareOptions& options) {
  CLI::Option* time =
      command
          .add_option("--time", options.time,
                      "Take the time that the program prints: REGEX has one group, in which the "
                      "number stands; the last\n"
                      "match in stdout counts, or in stderr if stdout has none. Default: the time "
                      "from the program's start\n"
                      "to its end")
          ->type_name("REGEX");
  command.add_flag("--rate", options.rate, "Larger is better in what --time reads")->needs(time);
  CLI::Option* result =
      command
          .add_option("--result", options.result,
                      "Compare only lines of stdout in which REGEX matches; others may be times "
                      "and progress")
          ->type_name("REGEX");
  command
      .add_flag("--ignore-output", options.ignore_output, "Do not compare what the program prints")
      ->excludes(result);
  command.add_flag("--ignore-failure", options.ignore_failure,
                   "Compare a program whose exit status is not 0");
  command
      .add_option("--json", options.json,
                  "Print JSON, to stdout (the answer then goes to stderr) or to FILE")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->default_str(kStdout);
  command.add_flag("-q,--quiet", options.quiet, "Print nothing while the program runs");
}

}  // namespace

void add_compare_command(CLI::App& app, const Program& program) {
  CLI::App* command =
      app.add_subcommand("compare", "Say whether a program takes less time under 'hierbar run'");
  auto options = std::make_shared<CompareOptions>();
  add_run_options(*command, *options);
  add_answer_options(*command, *options);
  refuse_name(*command, "--rounds", "--runs, pairs of runs");
  command->footer(kCompareHelp);
  command->callback([options, &program] { throw CLI::RuntimeError(compare(*options, program)); });
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quartiles.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/advice/candidates.hpp"
#include "cli/advice/launch_lines.hpp"
#include "cli/option/channel_costs.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/option/network_options.hpp"
#include "cli/program/program.hpp"
#include "cli/program/program_libraries.hpp"
#include "cli/program/turns.hpp"

namespace hierbar {
namespace {

// Quartiles of the wall-clock times in which a shell runs each line, in seconds.
struct TimedRuns {
  std::vector<Quartiles> seconds;
};

// Empty if the line ended well.
std::string run(const std::string& line) {
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) return std::string("cannot start a process: ") + std::strerror(errno);
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                             : "exit status " + std::to_string(WEXITSTATUS(status));
}

// Runs each line `num_rounds` times: all of them once, then all again in the reverse order, and so
// on, so that what changes on the machine meanwhile hits all alike. Their output goes to stderr.
// `progress` is told before each run. Errors: a line fails; it is named with its exit status.
Result<TimedRuns> time_lines(
    const std::vector<std::string>& lines, std::uint32_t num_rounds,
    const std::function<void(std::uint32_t done, std::uint32_t all)>& progress) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> times(lines.size());
  const auto all = static_cast<std::uint32_t>(lines.size() * num_rounds);
  for (std::uint32_t done = 0; done < all; ++done) {
    progress(done, all);
    const std::size_t at = in_turns(done / lines.size(), done % lines.size(), lines.size());
    const Clock::time_point start = Clock::now();
    if (const std::string problem = run(lines[at]); !problem.empty())
      return Error{"'" + lines[at] + "': " + problem};
    times[at].push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  TimedRuns result;
  for (const auto& values : times) result.seconds.push_back(quartiles_of(values));
  return result;
}

using nlohmann::ordered_json;

constexpr const char* kTryOption = "--try";
constexpr const char* kLauncherOption = "--launcher";
constexpr std::uint32_t kMostTried = 32;
constexpr std::uint32_t kMostRounds = 100;
constexpr std::size_t kNumShown = 3;

struct AdviseOptions {
  PredictionOptions prediction;
  std::string nodes;
  std::string threads = "auto";
  std::string num_tried;
  std::string num_rounds = "5";
  std::string launcher = "auto";
  bool json = false;
};

struct Trial {
  std::vector<Quartiles> seconds;          // of the tried candidates
  std::vector<Quartiles> default_seconds;  // the same without binding
};

struct Advice {
  const PredictionRequest& request;
  const Candidates& candidates;
  const Program& program;
  std::optional<Trial> trial;
};

CandidateRequest read_request(const AdviseOptions& options) {
  CandidateRequest request;
  if (!options.nodes.empty())
    request.num_nodes = parse_counts("--nodes", options.nodes, network::kMostTrafficRanks);
  if (lower_word(options.threads) != "auto")
    request.num_threads = parse_counts("--threads", options.threads, 4096);
  return request;
}

// Those whose lines can be run, "hydra, openmpi, srun".
std::string tried_launchers() {
  std::string names;
  for (const Launcher* launcher : launchers_for_people()) {
    if (launcher->line && launcher->line->tried_as != nullptr)
      names += (names.empty() ? "" : ", ") + std::string(launcher->line->tried_as);
  }
  return names;
}

const Launcher* find_tried(std::string_view name) {
  for (const Launcher& launcher : known_launchers()) {
    if (launcher.line && launcher.line->tried_as != nullptr && launcher.line->tried_as == name)
      return &launcher;
  }
  return nullptr;
}

const Launcher& chosen_launcher(const std::string& name) {
  if (const Launcher* launcher = find_tried(name)) return *launcher;
  if (name != "auto")
    refuse(kLauncherOption, name, "no such launcher", "auto, " + tried_launchers());
  const FamilyGuess guess = guess_family_of_launcher("mpiexec");
  if (guess.launcher == MpiFamily::kMpich) return *find_tried("hydra");
  if (guess.launcher == MpiFamily::kOpenMpi) return *find_tried("openmpi");
  if (!find_in_path("srun").empty()) return *find_tried("srun");
  throw CLI::ValidationError(kTryOption,
                             "there is no launcher here: neither mpiexec nor srun is in PATH");
}

// Each tried candidate with its binding and without.
Trial try_candidates(const AdviseOptions& options, const Advice& advice) {
  const std::uint32_t wanted = parse_count(options.num_tried, kMostTried);
  if (wanted == 0)
    refuse(kTryOption, options.num_tried, "no such number", "1 to " + std::to_string(kMostTried));
  const std::uint32_t rounds = parse_count(options.num_rounds, kMostRounds);
  if (rounds == 0)
    refuse("--rounds", options.num_rounds, "no such number", "1 to " + std::to_string(kMostRounds));
  if (advice.program.empty())
    throw CLI::ValidationError(kTryOption, "no program; put it after '--'");
  const Launcher& launcher = chosen_launcher(options.launcher);
  const std::size_t count = std::min<std::size_t>(wanted, advice.candidates.usable.size());
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i)
    lines.push_back(
        launch_line(launcher, advice.request.machine, advice.candidates.usable[i], advice.program));
  for (std::size_t i = 0; i < count; ++i)
    lines.push_back(plain_line(launcher, advice.candidates.usable[i], advice.program));
  const Result<TimedRuns> runs =
      time_lines(lines, rounds, [](std::uint32_t done, std::uint32_t all) {
        std::cerr << "hierbar advise: run " << done + 1 << " of " << all << '\n';
      });
  if (!runs) throw CLI::ValidationError(kTryOption, runs.error());
  const auto middle = runs->seconds.begin() + static_cast<std::ptrdiff_t>(count);
  return {{runs->seconds.begin(), middle}, {middle, runs->seconds.end()}};
}

// P4's ratio of performances: above 1 the binding is faster than none.
double ratio(const Trial& trial, std::size_t i) {
  return trial.default_seconds[i].median / trial.seconds[i].median;
}

std::string describe(const Candidate& candidate) {
  return network::describe(candidate.split) + " ranks x " + std::to_string(candidate.num_threads) +
         " threads, " + pattern_name(candidate.pattern);
}

// Each with the name of its launcher.
std::vector<std::pair<std::string, std::string>> all_lines(const Advice& advice,
                                                           const Candidate& candidate) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Launcher* launcher : launchers_for_people()) {
    if (!launcher->line) continue;
    lines.emplace_back(line_name(*launcher),
                       launch_line(*launcher, advice.request.machine, candidate, advice.program));
  }
  return lines;
}

void print_trial(const Advice& advice) {
  const Trial& trial = *advice.trial;
  std::printf("\ntried, seconds\n  order  median   quartiles          R_bind/R_def  candidate\n");
  const std::vector<std::uint32_t> order = network::rank_by_time(trial.seconds);
  for (std::size_t i = 0; i < trial.seconds.size(); ++i) {
    std::printf("  %5u %7.3f  %7.3f to %7.3f %14.3f  %s\n", order[i], trial.seconds[i].median,
                trial.seconds[i].lower, trial.seconds[i].upper, ratio(trial, i),
                describe(advice.candidates.usable[i]).c_str());
  }
  const auto best = std::count(order.begin(), order.end(), 1U);
  if (best > 1)
    std::printf("no difference among %d of them: each lies within the others' quartiles\n",
                static_cast<int>(best));
}

void print_text(const Advice& advice) {
  const std::vector<Candidate>& usable = advice.candidates.usable;
  std::printf(
      "%s among %u ranks on nodes like %s; costs from %s\n\n  order  %-32s %12s %12s  reason\n",
      network::describe(advice.request.traffic).c_str(), advice.request.num_ranks,
      machine_identity(advice.request.machine).c_str(), advice.request.costs.source.c_str(),
      "candidate", "messages, ms", "barrier, us");
  for (const Candidate& one : usable) {
    std::printf("  %5u  %-32s %12.3f %12.1f  %s\n", one.order, describe(one).c_str(),
                one.messages.time_us.median / 1e3, one.barrier_us, reason_for(one).c_str());
  }
  const auto equals = std::count_if(usable.begin(), usable.end(),
                                    [](const Candidate& one) { return one.order == 1; });
  if (equals > 1) {
    std::printf(
        "\n"
        "no difference among the first %d: each lies within the others' error; the fewest nodes "
        "come first, then the most threads\n",
        static_cast<int>(equals));
  }
  for (const auto& [reason, count] : advice.candidates.left_out) {
    std::printf("\n%u left out, since 'hierbar check' would find: %s", count, reason.c_str());
  }
  std::printf("\n");
  for (std::size_t i = 0; i < std::min(kNumShown, usable.size()); ++i) {
    std::printf("\n%s\n", describe(usable[i]).c_str());
    for (const auto& [name, line] : all_lines(advice, usable[i]))
      std::printf("  %-10s %s\n", name.c_str(), line.c_str());
  }
  if (advice.trial) print_trial(advice);
  std::printf("%s", typical_note(advice.request.costs.typical).c_str());
}

ordered_json advice_as_json(const Advice& advice) {
  ordered_json candidates = ordered_json::array();
  for (std::size_t i = 0; i < advice.candidates.usable.size(); ++i) {
    const Candidate& one = advice.candidates.usable[i];
    ordered_json lines = ordered_json::object();
    for (const auto& [name, line] : all_lines(advice, one)) lines[name] = line;
    candidates.push_back({{"order", one.order},
                          {"ranks_per_node", one.split},
                          {"threads", one.num_threads},
                          {"pattern", pattern_name(one.pattern)},
                          {"messages_us", quartiles_json(one.messages.time_us)},
                          {"barrier_us", one.barrier_us},
                          {"reason", reason_for(one)},
                          {"lines", std::move(lines)}});
    if (!advice.trial || i >= advice.trial->seconds.size()) continue;
    candidates.back()["tried_s"] = quartiles_json(advice.trial->seconds[i]);
    candidates.back()["default_s"] = quartiles_json(advice.trial->default_seconds[i]);
    candidates.back()["r_bind_by_r_def"] = ratio(*advice.trial, i);
  }
  return {{"traffic", network::describe(advice.request.traffic)},
          {"num_ranks", advice.request.num_ranks},
          {"machine", machine_identity(advice.request.machine)},
          {"source", advice.request.costs.source},
          {"typical", typical_json(advice.request.costs.typical)},
          {"candidates", std::move(candidates)},
          {"left_out", advice.candidates.left_out}};
}

void show(const CLI::App& command, const AdviseOptions& options, const Program& program) {
  const CandidateRequest request = read_request(options);
  const PredictionRequest prediction = read_prediction_request(command, options.prediction);
  const Candidates candidates =
      accept(find_candidates(prediction, request), "--network", prediction.costs.source,
             "costs of every channel that is used");
  if (candidates.usable.empty()) {
    throw CLI::ValidationError(
        "-n", "'" + options.prediction.num_ranks + "': no candidate is left" +
                  (candidates.left_out.empty() ? "; see --nodes" : "; see --nodes and --threads"));
  }
  const Program shown = program.empty() ? Program{"./app"} : program;
  Advice result{prediction, candidates, shown, std::nullopt};
  if (command.count(kTryOption) > 0)
    result.trial = try_candidates(options, {prediction, candidates, program, std::nullopt});
  if (options.json) {
    std::cout << advice_as_json(result).dump(2) << '\n';
  } else {
    print_text(result);
  }
}

constexpr const char* kAdviseHelp =
    "hierbar advise [OPTIONS] [-- PROGRAM [ARGUMENT...]]\n"
    "\n"
    "A candidate is a number of nodes, ranks on each, threads of a rank, and a pattern of "
    "`hierbar place`. Candidates for\n"
    "which `hierbar check` would find something are left out. The others are ordered by the "
    "predicted time of the messages\n"
    "(see `hierbar predict`) and one barrier of the nodes' leaders (see `hierbar meet`).\n"
    "  R_bind/R_def  performance with the binding over performance without (S. Kopysov and "
    "others, 2009)\n"
    "\n"
    "Examples:\n"
    "  hierbar advise -n 64 --traffic alltoall:1M\n"
    "  hierbar advise -n 64 --traffic alltoall:1M --network ethernet-10g-tcp\n"
    "  hierbar advise -n 64 --nodes 4,8 --threads auto --matrix bytes.csv --json\n"
    "  hierbar advise -n 4 --nodes 1 --traffic halo:64K --try 3 -- ./app input\n";

}  // namespace

void add_advise_command(CLI::App& app, const Program& program) {
  CLI::App* command = app.add_subcommand(
      "advise",
      "Rank nodes, ranks per node, threads and bindings for a job, as lines ready to run");
  auto options = std::make_shared<AdviseOptions>();
  add_prediction_options(*command, options->prediction);
  command
      ->add_option("--nodes", options->nodes, "Nodes of the job: a comma list; default: any number")
      ->type_name("LIST");
  command
      ->add_option(
          "-t,--threads", options->threads,
          "Threads of each rank: a comma list, or auto, which is the number of cores that\n"
          "its node has for each rank")
      ->type_name("auto|LIST")
      ->capture_default_str();
  command
      ->add_option(kTryOption, options->num_tried,
                   "Run the program after '--' with the best K candidates, each also without\n"
                   "its binding, in turns")
      ->type_name("K");
  command->add_option("--rounds", options->num_rounds, "How often each runs")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option(kLauncherOption, options->launcher,
                   "Which launcher starts the program: auto, " + tried_launchers())
      ->type_name("NAME")
      ->capture_default_str();
  refuse_name(*command, "--pattern", std::string(kTrafficOption) + " here");
  command->add_flag("--json", options->json, "Print JSON: all candidates with all lines");
  command->footer(kAdviseHelp);
  command->callback([command, options, &program] { show(*command, *options, program); });
}

}  // namespace hierbar

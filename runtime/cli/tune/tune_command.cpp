// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/commands.hpp"

#include <charconv>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/trusted_variable.hpp"
#include "base/variables.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/tune/tune_session.hpp"
#include "plan/profile.hpp"
#include "topology/load.hpp"
#include "tune/tune.hpp"
#include "tune/tune_report.hpp"

namespace hierbar {
namespace {

constexpr std::uint32_t kMostThreads = 4096;
constexpr std::size_t kMostTeams = 32;

TuneRequest read_request(const TuneOptions& options) {
  TuneRequest request;
  request.time_limit_s = parse_time_limit(options.time_limit);
  if (options.team_sizes.empty()) return request;
  for (const std::string& word : lower_words(options.team_sizes, ',')) {
    const std::uint32_t size = parse_count(word, kMostThreads);
    if (size < 2)
      refuse(kParticipantsOption, options.team_sizes,
             "'" + word + "' is not a valid number of threads", "a comma list of 2 to 4096");
    request.team_sizes.push_back(size);
  }
  if (request.team_sizes.size() > kMostTeams)
    refuse(kParticipantsOption, options.team_sizes, "too many teams", "up to 32");
  return request;
}

void measure(const CLI::App& command, const TuneOptions& options) {
  if (options.ranks_as_nodes || options.oversubscribed) {
    refuse(options.oversubscribed ? kOversubscribedOption : kRanksAsNodesOption, "",
           "only with --between-nodes", kBetweenNodesOption);
  }
  const TuneRequest request = read_request(options);
  if (trusted_variable(kTopologyVariable) != nullptr) {
    std::cerr << "hierbar tune: HIERBAR_TOPOLOGY is ignored: threads can be measured on this "
                 "machine only\n";
  }
  const Result<Machine> machine = load_live_machine();
  if (!machine) fail_tuning(machine.error());
  NewFile file(output_path(
      command, options, {kProfileVariable, "plans do", default_profile_path(own_environment())}));
  if (!file.problem().empty()) fail_tuning("cannot write '" + file.path() + "': " + file.problem());

  const StopOnSignal stop;
  TuneProgress progress(options.quiet);
  const std::unique_ptr<Meter> meter = make_thread_meter();
  const TuneHooks hooks{
      [&] { return progress.seconds(); }, [] { return stop_signal != 0; },
      [&](double fraction, const std::string& what) { progress.show(fraction, what); }};
  const Result<TuneReport> report = tune(*machine, request, *meter, hooks);
  progress.clear();
  if (!report)
    fail_tuning(report.error() + "; nothing is written",
                stop_signal != 0 ? 128 + stop_signal : kExitBadInput);

  const std::string profile = to_json(*report).dump(1) + '\n';
  if (const std::string problem = file.finish(profile); !problem.empty())
    fail_tuning("cannot write '" + file.path() + "': " + problem);
  if (options.json) {
    std::cout << profile;
    return;
  }
  for (const std::string& line : describe(*report)) std::cout << line << '\n';
  std::cout << "\nprofile written: " << file.path() << '\n';
}

constexpr const char* kTuneHelp =
    "What is measured:\n"
    "  one way  the time of a line transfer from one cpu to another, for sampled pairs of every "
    "kind: SMT\n"
    "           siblings (core), and cpus whose nearest common unit is an L2, an L3, a NUMA node, "
    "...\n"
    "  teams    barriers of threads bound to one core each, back to back: the automatic plan, all "
    "participants in\n"
    "           the exchange, and 2 to 32 leaders, each with flag lines and group lines. They take "
    "turns; the best\n"
    "           one then takes turns with the automatic plan alone, and these turns decide\n"
    "Ratios are medians over the turns, with quartiles. Run nothing else on the machine "
    "meanwhile.\n"
    "\n"
    "How it is used: plans of libomp.so, libhierbar_mpi.so and libhierbar.so take the measured "
    "shape for a team with\n"
    "the same numbers of participants, cores and domains; all others keep the automatic one. A\n"
    "profile of another machine or another version of hierbar is ignored with one message. "
    "HIERBAR_PROFILE names\n"
    "another profile, or is 'off'; HIERBAR_LEVELS and HIERBAR_RELEASE take precedence over it. "
    "'hierbar plan' shows the result.\n"
    "\n"
    "With --between-nodes it measures, for each class of equally distant nodes, latency, overheads "
    "and gap of empty\n"
    "messages, from which HIERBAR_MPI_MEETING=auto takes the schedules that it tries. Other "
    "networks in the\n"
    "file are kept. See docs/results/between-nodes.md. With --contention each of the two "
    "measurements may take the time limit;\n"
    "'hierbar predict' and 'hierbar advise' use the result, see docs/guide/advice.md.\n"
    "\n"
    "Exit status: 0 a profile was written; 2 wrong arguments, or it could not be written; 130 "
    "Ctrl-C (nothing is written)\n"
    "\n"
    "Examples:\n"
    "  hierbar tune\n"
    "  hierbar tune --participants 16,32,64 --time-limit 180\n"
    "  hierbar tune --between-nodes -- mpiexec -n 8 -ppn 1\n"
    "  hierbar tune --between-nodes --contention -- mpiexec -n 16 -ppn 8\n"
    "  hierbar tune --output node17.json && HIERBAR_PROFILE=$PWD/node17.json hierbar plan "
    "--participants 64\n";

void add_network_measurement_options(CLI::App& command, TuneOptions& options) {
  command.add_flag(
      kBetweenNodesOption, options.network,
      "Measure messages between nodes: after '--' give an MPI launcher and its options,\n"
      "without a program");
  command
      .add_option("--mpi", options.mpi,
                  "MPI library of the launcher of --between-nodes: auto, mpich (also Intel MPI and "
                  "others of its\n"
                  "kind), openmpi; with srun it must be given")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_flag("--contention", options.contention,
                   "With --between-nodes, also what channels cost that several pairs of ranks "
                   "share, inside a node\n"
                   "and between two; the launcher must start several ranks on each");
  command
      .add_option("--pairs", options.pairs,
                  "With --contention, the largest number of pairs at once")
      ->type_name("K")
      ->capture_default_str();
  command
      .add_option("--sizes", options.sizes,
                  "With --contention, the sizes of messages; default: 1K to 128M")
      ->type_name("LIST");
  command.add_flag(kRanksAsNodesOption, options.ranks_as_nodes,
                   "With --between-nodes, for trials: count ranks of one host as nodes");
  command.add_flag(kOversubscribedOption, options.oversubscribed,
                   "With --between-nodes, for trials: measure although ranks outnumber cpus");
}

}  // namespace

void add_tune_command(CLI::App& app, const Program& program) {
  CLI::App* command = app.add_subcommand(
      "tune",
      "Measure this machine, or the network, and write the profile from which choices are made");
  auto options = std::make_shared<TuneOptions>();
  command
      ->add_option(kParticipantsOption, options->team_sizes,
                   "Participants of the barrier, threads: a comma list of 2 to 4096 of teams to\n"
                   "measure; default: one for each core, and one for each cpu where cores have "
                   "several")
      ->type_name("LIST");
  command
      ->add_option(kOutputOption, options->output,
                   "The file to write, the profile; default: HIERBAR_PROFILE, else profile.json "
                   "in\n$XDG_CONFIG_HOME/hierbar or ~/.config/hierbar; with "
                   "--between-nodes:\nHIERBAR_NETWORK, else network.json there")
      ->type_name("FILE");
  command
      ->add_option(kTimeLimitOption, options->time_limit,
                   "Seconds, above 0 up to 3600, on a machine of any size")
      ->type_name("S")
      ->capture_default_str();
  command->add_flag("--json", options->json,
                    "Print JSON, the profile with all figures, in place of the summary");
  command->add_flag("--quiet", options->quiet, "Print nothing about the progress on stderr");
  refuse_name(*command, "-n", kParticipantsOption);
  refuse_name(*command, "--network", std::string(kBetweenNodesOption) + " here");
  add_network_measurement_options(*command, *options);
  command->footer(kTuneHelp);
  command->callback([command, options, program] {
    if (options->contention && !options->network)
      refuse("--contention", "", "without --between-nodes", "with --between-nodes");
    if (options->network) return measure_network(*command, *options, program);
    if (!program.empty())
      refuse("--", program.front(), "no program is started", "a launcher, with --between-nodes");
    measure(*command, *options);
  });
}

}  // namespace hierbar

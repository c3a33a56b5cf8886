// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/tune/tune_session.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/variables.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/program/program.hpp"
#include "cli/program/program_libraries.hpp"
#include "network/choose.hpp"
#include "network/network_profile.hpp"
#include "network/workers.hpp"
#include "placement/evidence/launcher.hpp"

namespace hierbar {
namespace {

namespace fs = std::filesystem;

// To start the ranks and to end them, beside the measuring.

std::string worker_for(MpiFamily family, const std::string& worker) {
  const fs::path prefix = fs::path(program_of(getpid())).parent_path().parent_path();
  const fs::path directory =
      prefix / (fs::exists(prefix / "CMakeCache.txt") ? "libexec" : HIERBAR_INSTALL_LIBEXECDIR) /
      "hierbar";
  return directory / (worker + (family == MpiFamily::kOpenMpi ? "_ompi" : "_mpich"));
}

MpiFamily family_of(const Program& launcher, const TuneOptions& options) {
  if (options.mpi == "mpich") return MpiFamily::kMpich;
  if (options.mpi == "openmpi") return MpiFamily::kOpenMpi;
  if (options.mpi != "auto") refuse("--mpi", options.mpi, "no such MPI", "auto, mpich, openmpi");
  const FamilyGuess guess = guess_family(launcher, own_environment());
  const MpiFamily family = guess.launcher == MpiFamily::kNone ? guess.family : guess.launcher;
  if (family != MpiFamily::kMpich && family != MpiFamily::kOpenMpi) {
    fail_tuning(
        "'" + launcher.front() +
        "' is not known to belong to an MPI library; name it with --mpi mpich or --mpi openmpi");
  }
  return family;
}

// What the worker has told.
struct ToldNetwork {
  std::optional<network::MeasuredNetwork> network;
  std::string refusal;
};

void listen(const std::string& line, TuneProgress& progress, ToldNetwork& told) {
  if (line.starts_with(network::kProgressLine)) {
    const std::string text = line.substr(std::string(network::kProgressLine).size());
    const std::size_t space = text.find(' ');
    progress.show(std::atof(text.c_str()),
                  space == std::string::npos ? "" : text.substr(space + 1));
  } else if (line.starts_with(network::kRefusalLine)) {
    told.refusal = line.substr(std::string(network::kRefusalLine).size());
  } else if (line.starts_with(network::kNetworkLine)) {
    Result<network::NetworkProfile> profile =
        network::parse_network_profile(line.substr(std::string(network::kNetworkLine).size()));
    if (profile && profile->networks.size() == 1) {
      told.network = std::move(profile->networks.front());
    } else {
      told.refusal =
          "the worker's answer cannot be parsed: " + (profile ? "no network" : profile.error());
    }
  } else {
    std::cerr << line << '\n';
  }
}

network::MeasuredNetwork measure(const Program& program, const TuneOptions& options) {
  const double limit_s = parse_time_limit(options.time_limit) + kForTheLauncher_s;
  const StopOnSignal stop;
  TuneProgress progress(options.quiet);
  ToldNetwork told;
  const WorkerListener listener{[&](const std::string& line) { listen(line, progress, told); },
                                [&] { return told.network.has_value() || !told.refusal.empty(); },
                                [] { return stop_signal != 0; }};
  const WorkerEnd end = run_worker(program, limit_s, listener);
  progress.clear();
  if (stop_signal != 0) fail_tuning("stopped; nothing is written", 128 + stop_signal);
  if (!told.refusal.empty()) fail_tuning(told.refusal + "; nothing is written");
  if (!told.network) {
    const std::string how = end.problem.empty() ? "'" + program.front() + "' ended with status " +
                                                      std::to_string(end.exit_code)
                                                : "'" + program.front() + "': " + end.problem;
    fail_tuning(how + " before anything was measured; nothing is written");
  }
  if (end.was_finished)
    std::cerr
        << "hierbar tune: the ranks were still running 5 s after the measurement, and were ended\n";
  return *std::move(told.network);
}

// The text of the file with the network in it.
Result<std::string> updated(const std::string& path, const network::MeasuredNetwork& measured) {
  const SmallFile old = read_small_file(path, network::kMaxNetworkBytes);
  if (!old.problem.empty() && !old.is_missing) return Error{old.problem};
  return network::with_network(old.text, measured);
}

void print(const network::PairClass& one) {
  std::printf("%s, %u pair%s measured\n", one.name.c_str(), one.num_pairs,
              one.num_pairs == 1 ? "" : "s");
  const std::array<std::pair<const char*, Quartiles>, 5> rows{{{"L    us", one.latency_us},
                                                               {"o_s  us", one.send_overhead_us},
                                                               {"o_r  us", one.receive_overhead_us},
                                                               {"g    us", one.gap_us},
                                                               {"G us/KB", one.gap_per_byte_us}}};
  for (const auto& [name, quartiles] : rows) {
    const double scale = name[0] == 'G' ? 1000 : 1;
    std::printf("  %s  %10.3f  (%.3f to %.3f)\n", name, scale * quartiles.median,
                scale * quartiles.lower, scale * quartiles.upper);
  }
}

void print(const network::MeasuredNetwork& measured) {
  std::printf("%s%s%s, %u nodes; medians (and quartiles)\n\n", measured.mpi_library.c_str(),
              measured.transport.empty() ? "" : ", ", measured.transport.c_str(),
              measured.num_nodes);
  for (const network::PairClass& one : measured.classes) print(one);
  for (const std::string& note : measured.notes) std::printf("note: %s\n", note.c_str());
  const auto ranked = network::choose(network::candidates(measured.num_nodes), measured.num_nodes,
                                      {measured.slowest(), {}});
  std::printf("\nbest by the model for %u nodes: %s, %.1f us\n", measured.num_nodes,
              name_of(ranked.front().kind).c_str(), ranked.front().evaluated_us);
}

}  // namespace

Program worker_command(const Program& launcher, const TuneOptions& options, const std::string& name,
                       const std::vector<std::string>& arguments) {
  if (launcher.empty())
    refuse(kBetweenNodesOption, "", "no launcher",
           "hierbar tune --between-nodes -- mpiexec -n 8 -ppn 1");
  if (find_in_path(launcher.front()).empty())
    fail_tuning("'" + launcher.front() + "' cannot be started", 127);
  const std::string worker = worker_for(family_of(launcher, options), name);
  if (!fs::exists(worker))
    fail_tuning("there is no worker " + worker + "; hierbar was built without this MPI library");
  Program program = launcher;
  program.push_back(worker);
  program.insert(program.end(), arguments.begin(), arguments.end());
  return program;
}

void measure_network(const CLI::App& command, const TuneOptions& options, const Program& launcher) {
  if (!options.team_sizes.empty())
    refuse(kParticipantsOption, options.team_sizes, "not with --between-nodes",
           "the launcher's options after '--'");
  const std::string path = output_path(
      command, options,
      {network::kNetworkVariable, "meetings do", network::default_network_path(own_environment())});
  // Before the work, so that it is not lost to a file that cannot be read or written.
  if (const SmallFile old = read_small_file(path, network::kMaxNetworkBytes); !old.is_missing) {
    const Result<network::NetworkProfile> profile =
        old.problem.empty() ? network::parse_network_profile(old.text) : Error{old.problem};
    if (!profile)
      fail_tuning("'" + path + "': " + profile.error() +
                  "; correct it, or name another file with --output");
  }
  NewFile file(path);
  if (!file.problem().empty()) fail_tuning("cannot write '" + path + "': " + file.problem());
  std::vector<std::string> arguments{kTimeLimitOption, options.time_limit};
  if (options.ranks_as_nodes) arguments.emplace_back(kRanksAsNodesOption);
  if (options.oversubscribed) arguments.emplace_back(kOversubscribedOption);
  network::MeasuredNetwork measured =
      measure(worker_command(launcher, options, "network_worker", arguments), options);
  if (options.contention) measured.contention = measure_contention(options, launcher);
  // The file may have changed meanwhile.
  const Result<std::string> text = updated(path, measured);
  const std::string problem = text ? file.finish(*text) : text.error();
  if (!problem.empty()) fail_tuning("cannot write '" + path + "': " + problem);
  if (options.json) {
    std::cout << *network::with_network("", measured);
    return;
  }
  print(measured);
  if (measured.contention) print(*measured.contention);
  std::cout << "\nnetwork written: " << path << '\n';
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures what messages between nodes cost, under one MPI library. `hierbar tune --between-nodes`
// starts it by the user's launcher and reads what rank 0 prints (network/workers.hpp). Each MPI's
// own compiler driver builds it.
//
//   network_worker --time-limit S [--ranks-as-nodes] [--oversubscribed]
//
// One rank on each node takes part. One pair at a time is measured, and all other ranks sleep.
//
// 1. Round trips of sampled pairs. They decide which pairs are equally far, unless Slurm knows.
// 2. In each class a few pairs are measured in full (network/measure.hpp), several times.
// 3. Rank 0 prints the network as a file of its own.

#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/variables.hpp"
#include "mpi/library/library_name.hpp"
#include "mpi/tools/nodes.hpp"
#include "network/measure.hpp"
#include "network/network_profile.hpp"
#include "network/workers.hpp"

namespace {

using namespace hierbar;
using namespace hierbar::mpi;
using network::Experiment;
using network::Step;

// Runs experiments between this rank, the client, and another one, the server, which is in
// serve_experiments() meanwhile. Before each experiment the server is told which it is, and
// answers: so both have made their programs and are waiting when the client's first stamp is taken.
class MpiExperiments : public network::ExperimentRunner {
 public:
  MpiExperiments(MPI_Comm comm, int server) : comm_(comm), server_(server) {}
  // Ends the server's serve_experiments().
  ~MpiExperiments() override;
  MpiExperiments(const MpiExperiments&) = delete;
  MpiExperiments& operator=(const MpiExperiments&) = delete;

  double run_us(const Experiment& experiment) override;

 private:
  MPI_Comm comm_;
  int server_;
};

enum Tag : int { kExperiment = 101, kReady, kMessage };

// What is sent to the server. No messages: there are no more experiments.
struct Announcement {
  Experiment experiment;
  bool is_end = false;
};

// Busy, and not in the library: the model's cpu does nothing else meanwhile. Returns by how much it
// has taken too long.
std::int64_t keep_busy(std::int64_t ns) {
  const std::int64_t end_ns = monotonic_ns() + ns;
  for (std::int64_t now_ns;;) {
    if ((now_ns = monotonic_ns()) >= end_ns) return now_ns - end_ns;
  }
}

// Runs a program of one side; returns its stamps in nanoseconds. Where the cpu is taken away in a
// delay, the delay is longer than asked for. Later stamps are as if it had not been: among 16
// delays one is nearly always hit on a busy machine, and o_s is what is left when the delays are
// subtracted.
std::vector<std::int64_t> run(const network::Program& program, MPI_Comm comm,
                              std::vector<char>& buffer) {
  std::vector<std::int64_t> stamps;
  stamps.reserve(program.size());
  std::int64_t too_long_ns = 0;
  for (const Step& step : program) {
    switch (step.what) {
      case Step::Do::kStamp:
        stamps.push_back(monotonic_ns() - too_long_ns);
        break;
      case Step::Do::kDelay:
        too_long_ns += keep_busy(static_cast<std::int64_t>(1000 * step.delay_us));
        break;
      case Step::Do::kSend:
        MPI_Send(buffer.data(), static_cast<int>(step.num_bytes), MPI_BYTE,
                 static_cast<int>(step.peers.front()), kMessage, comm);
        break;
      case Step::Do::kReceive:
        for (const std::uint32_t peer : step.peers) {
          MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, static_cast<int>(peer),
                   kMessage, comm, MPI_STATUS_IGNORE);
        }
        break;
    }
  }
  return stamps;
}

MpiExperiments::~MpiExperiments() {
  const Announcement end{.experiment = {}, .is_end = true};
  MPI_Send(&end, sizeof end, MPI_BYTE, server_, kExperiment, comm_);
}

double MpiExperiments::run_us(const Experiment& experiment) {
  const Announcement announcement{.experiment = experiment, .is_end = false};
  const network::Program program =
      program_of(experiment, network::Side::kClient, static_cast<std::uint32_t>(server_));
  std::vector<char> buffer(experiment.num_bytes + 1);
  MPI_Send(&announcement, sizeof announcement, MPI_BYTE, server_, kExperiment, comm_);
  MPI_Recv(nullptr, 0, MPI_BYTE, server_, kReady, comm_, MPI_STATUS_IGNORE);
  const std::vector<std::int64_t> stamps = run(program, comm_, buffer);
  return static_cast<double>(stamps.back() - stamps.front()) / 1000;
}

// The other side.
void serve_experiments(MPI_Comm comm, int client) {
  for (;;) {
    Announcement announcement;
    MPI_Recv(&announcement, sizeof announcement, MPI_BYTE, client, kExperiment, comm,
             MPI_STATUS_IGNORE);
    if (announcement.is_end) return;
    const network::Program program = program_of(announcement.experiment, network::Side::kServer,
                                                static_cast<std::uint32_t>(client));
    std::vector<char> buffer(announcement.experiment.num_bytes + 1);
    MPI_Send(nullptr, 0, MPI_BYTE, client, kReady, comm);
    run(program, comm, buffer);
  }
}

constexpr int kCommand = 1, kTimes = 2, kNotes = 3;

constexpr std::uint32_t kMostSampled = 64;
constexpr std::uint32_t kRoundTrips = 7;  // of each sampled pair; the least counts
constexpr std::size_t kMostPairs = 4;     // of a class, in full
constexpr int kTimesEach = 5;             // a pair, in full
// A measurement in full takes about so many round trips for each repetition.
constexpr double kRoundTripsEach = 70;
constexpr std::uint32_t kFewestRepetitions = 3;
constexpr std::uint32_t kMostRepetitions = 101;
constexpr unsigned kGrace_s = 60;  // behind the limit: whoever hangs is ended

struct NetworkWorkerOptions {
  double time_limit_s = 60;
  NodesOptions nodes;
};

// What a rank is to do. Rank 0 tells the client and the server of a pair.
struct Command {
  enum class What : int { kRoundTrip, kInFull, kServe, kStop };
  What what = What::kStop;
  int peer = 0;
  std::uint32_t num_repetitions = 0;
};

void take_nap() {
  const timespec nap{0, 500000};
  nanosleep(&nap, nullptr);
}

// Waits for a message without keeping a cpu busy, since those that are measured may need it.
void await_message(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  for (int has_come = 0; has_come == 0;) {
    MPI_Iprobe(source, tag, comm, &has_come, status);
    if (has_come == 0) take_nap();
  }
}

double least_round_trip_us(network::ExperimentRunner& runner) {
  runner.run_us({});  // the library connects the two
  double least_us = runner.run_us({});
  for (std::uint32_t i = 1; i < kRoundTrips; ++i) least_us = std::min(least_us, runner.run_us({}));
  return least_us;
}

network::PairMeasurement measure(const Command& command, MPI_Comm comm) {
  MpiExperiments runner(comm, command.peer);
  if (command.what == Command::What::kInFull)
    return network::measure_pair(runner, command.num_repetitions);
  return {.parameters = {.latency_us = least_round_trip_us(runner)}, .notes = {}};
}

// What all ranks but 0 do.
void obey(MPI_Comm comm) {
  for (;;) {
    Command command;
    MPI_Status status;
    await_message(0, kCommand, comm, &status);
    MPI_Recv(&command, sizeof command, MPI_BYTE, 0, kCommand, comm, MPI_STATUS_IGNORE);
    if (command.what == Command::What::kStop) return;
    if (command.what == Command::What::kServe) {
      serve_experiments(comm, command.peer);
      continue;
    }
    const network::PairMeasurement found = measure(command, comm);
    std::string notes;
    for (const std::string& note : found.notes) notes += note + '\n';
    MPI_Send(&found.parameters, sizeof found.parameters, MPI_BYTE, 0, kTimes, comm);
    MPI_Send(notes.data(), static_cast<int>(notes.size()), MPI_CHAR, 0, kNotes, comm);
  }
}

network::PairMeasurement receive_measurement(int client, MPI_Comm comm) {
  network::PairMeasurement found;
  MPI_Status status;
  await_message(client, kTimes, comm, &status);
  MPI_Recv(&found.parameters, sizeof found.parameters, MPI_BYTE, client, kTimes, comm,
           MPI_STATUS_IGNORE);
  MPI_Probe(client, kNotes, comm, &status);
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string notes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(notes.data(), size, MPI_CHAR, client, kNotes, comm, MPI_STATUS_IGNORE);
  for (std::size_t begin = 0, end; (end = notes.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    found.notes.push_back(notes.substr(begin, end - begin));
  return found;
}

// Rank 0.
class Measuring {
 public:
  Measuring(const NetworkWorkerOptions& options, Nodes nodes, MPI_Comm comm)
      : options_(options), nodes_(std::move(nodes)), comm_(comm) {}

  network::MeasuredNetwork measure_network() {
    const auto num_nodes = static_cast<std::uint32_t>(nodes_.ranks.size());
    network::MeasuredNetwork network{.mpi_library = library_name(MPI_Get_library_version),
                                     .transport = network::transport_of(own_environment()),
                                     .num_nodes = num_nodes,
                                     .classes = {},
                                     .notes = {}};
    if (!nodes_.note.empty()) network.notes.push_back(nodes_.note);
    const std::vector<network::NodePair> pairs = network::sample_pairs(num_nodes, kMostSampled);
    std::vector<double> round_trips_us;
    for (const network::NodePair& pair : pairs) {
      report(0.2 * static_cast<double>(round_trips_us.size()) / static_cast<double>(pairs.size()),
             "round trips");
      round_trips_us.push_back(
          measure_between(pair, Command::What::kRoundTrip, 0).parameters.latency_us);
    }
    const network::Grouping grouping =
        network::group_pairs(pairs, round_trips_us, nodes_.addresses);
    for (std::uint32_t index = 0; index < grouping.names.size(); ++index) {
      measure_class(index, grouping, pairs, round_trips_us, network);
    }
    return network;
  }

 private:
  double spent_s() const { return static_cast<double>(monotonic_ns() - start_ns_) * 1e-9; }

  static void report(double fraction, const std::string& what) {
    std::printf("%s%.3f %s\n", network::kProgressLine, fraction, what.c_str());
    std::fflush(stdout);
  }

  network::PairMeasurement measure_between(const network::NodePair& pair, Command::What what,
                                           std::uint32_t num_repetitions) {
    const int client = nodes_.ranks[pair.first], server = nodes_.ranks[pair.second];
    const Command serve{Command::What::kServe, client, 0};
    const Command command{what, server, num_repetitions};
    MPI_Send(&serve, sizeof serve, MPI_BYTE, server, kCommand,
             comm_);  // the server is never rank 0
    if (client == 0) return measure(command, comm_);
    MPI_Send(&command, sizeof command, MPI_BYTE, client, kCommand, comm_);
    return receive_measurement(client, comm_);
  }

  // Up to kMostPairs pairs, in turns, as often as the class's share of the time allows.
  void measure_class(std::uint32_t index, const network::Grouping& grouping,
                     const std::vector<network::NodePair>& pairs,
                     const std::vector<double>& round_trips_us, network::MeasuredNetwork& network) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (grouping.classes[i] == index) members.push_back(i);
    }
    const std::size_t num_pairs = std::min(members.size(), kMostPairs);
    const auto classes_left = static_cast<double>(grouping.names.size() - index);
    const double share_s = std::max(0.0, 0.9 * options_.time_limit_s - spent_s()) / classes_left;
    const double once_us = kRoundTripsEach * round_trips_us[members.front()];
    const double repetitions =
        1e6 * share_s / (static_cast<double>(num_pairs * kTimesEach) * once_us);
    const auto num_repetitions =
        static_cast<std::uint32_t>(std::clamp(repetitions, static_cast<double>(kFewestRepetitions),
                                              static_cast<double>(kMostRepetitions)));
    std::vector<network::Parameters> found;
    const double end_s = spent_s() + share_s;
    for (int turn = 0; turn < kTimesEach; ++turn) {
      for (std::size_t i = 0; i < num_pairs; ++i) {
        // Each pair once in any case, or there would be no result.
        if (turn > 0 && spent_s() > end_s) continue;
        report(0.2 + 0.8 * (index + static_cast<double>(turn) / kTimesEach) /
                         static_cast<double>(grouping.names.size()),
               grouping.names[index]);
        const network::NodePair& pair = pairs[members[i * members.size() / num_pairs]];
        network::PairMeasurement one =
            measure_between(pair, Command::What::kInFull, num_repetitions);
        found.push_back(one.parameters);
        for (std::string& note : one.notes) add_note(network, grouping.names[index] + ": " + note);
      }
    }
    if (found.size() < num_pairs * kTimesEach)
      add_note(network,
               grouping.names[index] + ": the time limit was too short for all measurements");
    network.classes.push_back(
        network::summarize(grouping.names[index], static_cast<std::uint32_t>(num_pairs), found));
  }

  static void add_note(network::MeasuredNetwork& network, const std::string& note) {
    constexpr std::size_t kMostNotes = 20;
    const bool is_known =
        std::find(network.notes.begin(), network.notes.end(), note) != network.notes.end();
    if (!is_known && network.notes.size() < kMostNotes) network.notes.push_back(note);
  }

  const NetworkWorkerOptions options_;
  const Nodes nodes_;
  const MPI_Comm comm_;
  const std::int64_t start_ns_ = monotonic_ns();
};

void command_all(const NetworkWorkerOptions& options, const Nodes& nodes, int num_ranks,
                 MPI_Comm comm) {
  if (!nodes.refusal.empty()) {
    std::printf("%s%s\n", network::kRefusalLine, nodes.refusal.c_str());
  } else {
    Result<std::string> text =
        network::with_network("", Measuring(options, nodes, comm).measure_network());
    std::string line = text ? *std::move(text) : "";
    std::replace(line.begin(), line.end(), '\n', ' ');  // inside a string of JSON there is none
    std::printf("%s%s\n", text ? network::kNetworkLine : network::kRefusalLine,
                text ? line.c_str() : text.error().c_str());
  }
  std::fflush(stdout);
  const Command stop;
  for (int rank = 1; rank < num_ranks; ++rank)
    MPI_Send(&stop, sizeof stop, MPI_BYTE, rank, kCommand, comm);
}

std::optional<NetworkWorkerOptions> parse(int argc, char** argv) {
  NetworkWorkerOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--ranks-as-nodes") {
      options.nodes.ranks_as_nodes = true;
    } else if (option == "--oversubscribed") {
      options.nodes.oversubscribed = true;
    } else if (option == "--time-limit" && i + 1 < argc) {
      options.time_limit_s = std::atof(argv[++i]);
    } else {
      return std::nullopt;
    }
  }
  return options.time_limit_s > 0 ? std::optional(options) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<NetworkWorkerOptions> options = parse(argc, argv);
  if (!options) {
    std::fputs("network_worker: started by hierbar tune --between-nodes, not by hand\n", stderr);
    return 2;
  }
  alarm(static_cast<unsigned>(options->time_limit_s) + kGrace_s);
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank = 0, num_ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  const Nodes nodes = find_nodes(comm, options->nodes);
  if (rank == 0) {
    command_all(*options, nodes, num_ranks, comm);
  } else {
    obey(comm);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures MPI_Barrier, or calls that carry data, among all ranks of one machine, under one MPI
// library. Rank 0 prints raw
// samples as one line of JSON. Each MPI's own compiler driver builds it, and nothing else is linked
// to it; the launcher decides what is preloaded. The thread level is MPI_THREAD_SINGLE. See
// docs/design/testing.md#d0072.
//
//   mpi_barrier_worker --budget-ms MS --limit-s S [--inside] [--alone | --crowded | --first]
//                      [--collectives CALL:BYTES,...]
//   --inside  measure PMPI_Barrier too, which is the library's own; batches of both take turns
//   --alone   every rank has a cpu: measure the figures too for which all must run at once
//   --crowded ranks outnumber the cpus: measure `loop` and `elsewhere`, and nothing else
//   --first   measure only the last list of figures
//   --collectives  measure these in place of MPI_Barrier alone, in turns with it, and only from one
//             call to the next: `period`, or with --crowded `loop`, under the names `barrier` and
//             CALL:BYTES
//
// Figures are in ns, and are maxima over the ranks. The clock is CLOCK_MONOTONIC, which is the same
// for all processes of a machine.
//
//   period    of barriers back to back
//   isolated  ranks enter at an agreed moment: from the last rank's entry to the last one's exit
//   skew      in the same episodes: from the first exit to the last
//   late      one rank, another one each time, comes kDelayNs after the others: from its entry to
//             the last exit
//
//   loop       barriers back to back for long: the mean over the ranks
//   elsewhere  one barrier after an MPI_Allreduce of the library: from the last rank's entry to the
//              last one's exit
//
//   first      the first barrier on a new communicator, without the program's very first one
//   cold       the program's very first barrier
//   allreduce  the library's MPI_Allreduce as the first call on a new communicator, in turns with
//              `first`
//   init       MPI_Init
//
// Exits with 2 for wrong arguments. A run that takes longer than the limit ends by SIGALRM. Only
// mpi_barrier_bench starts it.

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/measured_program.hpp"
#include "bench/runtimes/mpi/worker_barrier.hpp"
#include "bench/runtimes/mpi/worker_collectives.hpp"

namespace {

using namespace hierbar::bench;
using namespace hierbar::bench::mpi;

// ---- settings ----

struct MpiWorkerSettings {
  double budget_ns = 0;
  unsigned limit_s = 0;
  bool inside = false;
  bool alone = false;
  bool crowded = false;
  bool first = false;
  std::vector<std::string> collectives;
};

// "A,B,C"
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Nothing for wrong arguments.
std::optional<MpiWorkerSettings> parse_settings(int argc, char** argv) {
  MpiWorkerSettings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--inside") {
      settings.inside = true;
    } else if (option == "--alone") {
      settings.alone = true;
    } else if (option == "--crowded") {
      settings.crowded = true;
    } else if (option == "--first") {
      settings.first = true;
    } else if (option == "--collectives") {
      settings.collectives = parts_of(value);
      ++i;
    } else if (option == "--budget-ms") {
      settings.budget_ns = std::atof(value) * 1e6;
      ++i;
    } else if (option == "--limit-s") {
      settings.limit_s = static_cast<unsigned>(std::max(0, std::atoi(value)));
      ++i;
    } else {
      return std::nullopt;
    }
  }
  if (settings.budget_ns <= 0 || settings.limit_s == 0 ||
      settings.alone + settings.crowded + settings.first > 1)
    return std::nullopt;
  for (const std::string& name : settings.collectives) {
    if (find_collective(name, false) == nullptr) return std::nullopt;
  }
  return settings;
}

// ---- figures of ranks that have a cpu each ----

// Each batch is shorter than a time slice. So the median leaves out batches in which a rank lost
// its cpu.
constexpr int kNumBatches = 100;
constexpr int kFewestBatches = 3;
// After so many batches the ranks agree on the time that is spent.
constexpr int kBatchesPerLook = 20;
constexpr double kMostBudgets = 2;    // the most that is spent on one figure
constexpr int kMostEpisodes = 1000;   // for figures that are sampled one by one
constexpr int kEpisodesPerTurn = 50;  // of one barrier, before the other one's turn
// The delay of a late rank. It is longer than any barrier of ranks that have a cpu each.
constexpr double kDelayNs = 20000;
constexpr int kMostFirsts = 100;  // new communicators for each kind of call
// Libraries do set-up in the first calls, and change algorithms after some more.
constexpr int kWarmUp = 16;

int rank = 0;
int num_ranks = 1;
double clock_ns = 0;  // the cost of one reading

// Chooses the number of barriers in a batch, and the number of batches. All ranks come to the same
// numbers, because they use maxima. A trial that seems to fill a batch is repeated, because its
// rank may have lost its cpu.
void calibrate(Barrier& barrier, double budget_ns) {
  const double batch_ns = budget_ns / kNumBatches;
  for (int i = 0; i < kWarmUp && (i == 0 || barrier.period_ns < batch_ns); ++i)
    barrier.period_ns = maximum(time_batch(barrier, 1));
  for (long count = 1;; count *= 8) {
    double elapsed_ns = maximum(time_batch(barrier, count));
    if (elapsed_ns > batch_ns / 4)
      elapsed_ns = std::min(elapsed_ns, maximum(time_batch(barrier, count)));
    barrier.period_ns = std::max(1.0, elapsed_ns) / static_cast<double>(count);
    if (elapsed_ns > batch_ns / 4) break;
  }
  barrier.batch = std::max(1L, static_cast<long>(batch_ns / barrier.period_ns));
  const double num_batches = budget_ns / (static_cast<double>(barrier.batch) * barrier.period_ns);
  barrier.num_batches = std::clamp(static_cast<int>(num_batches), kFewestBatches, kNumBatches);
}

// The barriers take turns, batch by batch. After each kBatchesPerLook batches the ranks agree on
// the time that these have taken. It is far more than expected when others use the cpus.
void measure_period(std::vector<Barrier>& barriers, double budget_ns) {
  std::map<const Barrier*, std::vector<double>> own;
  const double limit_ns = kMostBudgets * budget_ns * static_cast<double>(barriers.size());
  int num_batches = 0;
  for (const Barrier& barrier : barriers) num_batches = std::max(num_batches, barrier.num_batches);
  const double start = now_ns();
  for (int batch = 0; batch < num_batches; ++batch) {
    if (batch > 0 && batch % kBatchesPerLook == 0 && maximum(now_ns() - start) > limit_ns) break;
    for (const Barrier& barrier : barriers) {
      if (batch >= barrier.num_batches) continue;
      own[&barrier].push_back(time_batch(barrier, barrier.batch) /
                              static_cast<double>(barrier.batch));
    }
  }
  for (Barrier& barrier : barriers) barrier.samples["period"] = over_ranks(own[&barrier], MPI_MAX);
}

// A series of barriers, as this rank saw them. Times count from the agreed start of the series.
struct BarrierTimes {
  std::vector<double> entries;
  std::vector<double> exits;
  std::vector<double> lateness;  // of the entry, compared with the agreed moment
};

// Runs barriers at agreed moments, `interval_ns` apart. In each barrier one rank, another one each
// time, comes `delay_ns` later.
BarrierTimes time_barriers(const Barrier& barrier, int count, double interval_ns, double delay_ns) {
  constexpr double kLeadNs = 50000;  // before the first moment, so that all know it in time
  const double origin = maximum(now_ns()) + kLeadNs;
  BarrierTimes times;
  for (int i = 0; i < count; ++i) {
    const double moment = origin + i * interval_ns + (i % num_ranks == rank ? delay_ns : 0);
    double entry = now_ns();
    while (entry < moment) entry = now_ns();
    barrier.call(MPI_COMM_WORLD);
    times.exits.push_back(now_ns() - origin);
    times.entries.push_back(entry - origin);
    times.lateness.push_back(entry - moment);
  }
  return times;
}

// Adds what follows from the times of all ranks. An episode is left out if a rank entered it too
// late.
void add_samples(Barrier& barrier, const BarrierTimes& times, double tolerance_ns, bool delayed) {
  const std::vector<double> last_entries = over_ranks(times.entries, MPI_MAX);
  const std::vector<double> last_exits = over_ranks(times.exits, MPI_MAX);
  const std::vector<double> first_exits = over_ranks(times.exits, MPI_MIN);
  const std::vector<double> lateness = over_ranks(times.lateness, MPI_MAX);
  for (std::size_t i = 0; i < lateness.size(); ++i) {
    if (lateness[i] > tolerance_ns) continue;
    const double passage_ns = last_exits[i] - last_entries[i] - clock_ns;
    barrier.samples[delayed ? "late" : "isolated"].push_back(passage_ns);
    if (!delayed) barrier.samples["skew"].push_back(last_exits[i] - first_exits[i]);
  }
}

// Measures isolated episodes or, if `delayed`, episodes with one late rank.
void measure_episodes(std::vector<Barrier>& barriers, double budget_ns, bool delayed) {
  const double delay_ns = delayed ? kDelayNs : 0;
  double spent_ns = 0;
  for (int episode = 0; episode < kMostEpisodes && spent_ns < budget_ns;
       episode += kEpisodesPerTurn) {
    for (Barrier& barrier : barriers) {
      // Long enough for all ranks to have left before the next episode.
      const double interval_ns = delay_ns + 4 * barrier.period_ns + 5000;
      const double start = now_ns();
      const BarrierTimes times = time_barriers(barrier, kEpisodesPerTurn, interval_ns, delay_ns);
      add_samples(barrier, times, std::max(200.0, barrier.period_ns), delayed);
      spent_ns += maximum(now_ns() - start);
    }
  }
}

// The time of a call in this rank, as the first one on a new communicator of all ranks. The barrier
// before it makes all ranks begin together.
double time_first(int (*call)(MPI_Comm)) {
  MPI_Comm fresh;
  PMPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  PMPI_Barrier(MPI_COMM_WORLD);
  const double start = now_ns();
  call(fresh);
  const double elapsed_ns = now_ns() - start;
  MPI_Comm_free(&fresh);
  return elapsed_ns;
}

int allreduce(MPI_Comm comm) {
  int one = 1, sum = 0;
  return PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

// Measures first calls on new communicators. All barriers and the allreduce take turns.
void measure_first(std::vector<Barrier>& barriers, double budget_ns, double init_ns) {
  std::map<std::string, std::vector<double>> own;
  std::vector<double> reductions;
  const double start = now_ns();
  for (int i = 0; i < kMostFirsts && (i < kFewestBatches || maximum(now_ns() - start) < budget_ns);
       ++i) {
    for (const Barrier& barrier : barriers) own[barrier.name].push_back(time_first(barrier.call));
    reductions.push_back(time_first(allreduce));
  }
  for (Barrier& barrier : barriers) {
    std::vector<double>& firsts = barrier.samples["first"] = over_ranks(own[barrier.name], MPI_MAX);
    barrier.samples["cold"] = {firsts.front()};
    firsts.erase(firsts.begin());
  }
  barriers.front().samples["allreduce"] = over_ranks(reductions, MPI_MAX);
  barriers.front().samples["init"] = {maximum(init_ns)};
}

// ---- the answer ----

// The beginning of the library's version text, "MPICH Version: 4.0.2" or "Open MPI v4.1.4", without
// characters that a JSON string cannot have.
std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  std::string version(text);
  version.resize(std::min(version.find_first_of("\n,"), version.size()));
  for (char& c : version) {
    if (c == '\t' || c == '"' || c == '\\') c = ' ';
  }
  const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
  version.erase(std::unique(version.begin(), version.end(), both_blank), version.end());
  return version;
}

void print_list(const char* key, const std::vector<double>& values) {
  std::printf("\"%s\": [", key);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::printf("%s%.1f", i == 0 ? "" : ", ", values[i]);
  std::printf("]");
}

void print(const std::vector<Barrier>& barriers, const std::vector<double>& cpus) {
  std::printf("{\"version\": \"%s\", \"library\": \"%s\", \"barrier\": \"%s\", \"ranks\": %d, ",
              library_version().c_str(), file_of("PMPI_Barrier").c_str(),
              file_of("MPI_Barrier").c_str(), num_ranks);
  print_list("cpus", cpus);
  for (const Barrier& barrier : barriers) {
    std::printf(", \"%s\": {", barrier.name.c_str());
    const char* separator = "";
    for (const auto& [figure, samples] : barrier.samples) {
      std::printf("%s", separator);
      print_list(figure.c_str(), samples);
      separator = ", ";
    }
    std::printf("}");
  }
  std::puts("}");
}

// The cpu of each rank.
std::vector<double> rank_cpus() {
  std::vector<double> cpus(static_cast<std::size_t>(num_ranks), -1);
  cpus[static_cast<std::size_t>(rank)] = sched_getcpu();
  return over_ranks(cpus, MPI_MAX);
}

// The calls take turns, batch by batch, or one after the other if ranks outnumber the cpus.
std::vector<Barrier> measure_collectives(const MpiWorkerSettings& settings) {
  make_room_for(num_ranks);
  std::vector<Barrier> calls{{"barrier", MPI_Barrier, 0, 1, 0, {}}};
  for (const std::string& name : settings.collectives)
    calls.push_back({name, find_collective(name, false), 0, 1, 0, {}});
  const std::size_t num_of_program = calls.size();
  if (settings.inside) {
    calls.push_back({"barrier", PMPI_Barrier, 0, 1, 0, {}});
    for (const std::string& name : settings.collectives)
      calls.push_back({name, find_collective(name, true), 0, 1, 0, {}});
  }
  if (settings.crowded) {
    for (Barrier& call : calls) call.samples["loop"] = time_loop(call, settings.budget_ns);
  } else {
    for (Barrier& call : calls) calibrate(call, settings.budget_ns);
    measure_period(calls, settings.budget_ns);
  }
  std::vector<Barrier> all{{"program", nullptr, 0, 1, 0, {}}};
  if (settings.inside) all.push_back({"own", nullptr, 0, 1, 0, {}});
  for (std::size_t i = 0; i < calls.size(); ++i)
    all[i < num_of_program ? 0 : 1].samples[calls[i].name] = calls[i].samples.begin()->second;
  return all;
}

// What is fast must also be right.
void check_sum() {
  sent_doubles.front() = 1;
  MPI_Allreduce(sent_doubles.data(), received_doubles.data(), 1, MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  if (received_doubles.front() == num_ranks) return;
  std::fprintf(stderr, "mpi_barrier_worker: MPI_Allreduce gave a wrong sum\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void run(const MpiWorkerSettings& settings, double init_ns) {
  std::vector<Barrier> barriers{{"program", MPI_Barrier, 0, 1, 0, {}}};
  if (settings.inside) barriers.push_back({"own", PMPI_Barrier, 0, 1, 0, {}});
  clock_ns = clock_cost_ns();
  if (!settings.collectives.empty()) {
    barriers = measure_collectives(settings);
    check_sum();
  } else if (settings.first) {
    measure_first(barriers, settings.budget_ns, init_ns);
  } else if (settings.crowded) {
    for (Barrier& barrier : barriers) {
      barrier.samples["loop"] = time_loop(barrier, settings.budget_ns);
      barrier.samples["elsewhere"] = time_visits(barrier, settings.budget_ns);
    }
  } else {
    for (Barrier& barrier : barriers) calibrate(barrier, settings.budget_ns);
    measure_period(barriers, settings.budget_ns);
  }
  if (settings.alone) {
    measure_episodes(barriers, settings.budget_ns / 2, false);
    measure_episodes(barriers, settings.budget_ns / 2, true);
  }
  const std::vector<double> cpus = rank_cpus();
  if (rank == 0) print(barriers, cpus);
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<MpiWorkerSettings> settings = parse_settings(argc, argv);
  if (!settings) {
    std::fputs("mpi_barrier_worker: started by mpi_barrier_bench, not by hand\n", stderr);
    return 2;
  }
  alarm(settings->limit_s);  // a launcher that is killed may leave its ranks behind
  const double start = now_ns();
  MPI_Init(&argc, &argv);
  const double init_ns = now_ns() - start;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  run(*settings, init_ns);
  MPI_Finalize();
  return 0;
}

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures one construct with one team size in one process, and prints raw samples as JSON. GCC and
// Clang each build a program from this source. GCC's calls GOMP_*, and Clang's calls __kmpc_*; only
// Clang's reaches libomp's reduction barrier. LD_LIBRARY_PATH decides which runtime the loader
// takes. The source uses nothing but OpenMP, so that both compilers agree on it.
//
// The method is EPCC's (Bull, "Measuring synchronisation and scheduling overheads in OpenMP", EWOMP
// 1999). A construct is repeated in a batch, and the primary thread times the batch. The time that
// the work inside would have taken alone is subtracted.
//
//   omp_barrier_worker --identify
//   omp_barrier_worker --construct NAME --threads N --budget-ms MS [--delay-ns NS]
//                      [--operations N] [--graph-seed N] [--graph-ms MS]
//
// Exits with 2 for wrong arguments, and with 3 if the runtime gives another team size. Only
// omp_barrier_bench starts it.

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/decode_graph.hpp"
#include "bench/common/measured_program.hpp"
#include "bench/runtimes/omp/constructs.hpp"

namespace {

using namespace hierbar::bench;
using namespace hierbar::bench::omp;

// ---- settings ----

struct OmpWorkerSettings {
  std::string construct;
  int num_threads = 1;
  double budget_ns = 0;
  double delay_ns = 0;
  DecodeGraph graph;
};

// Nothing for wrong arguments.
std::optional<OmpWorkerSettings> parse_settings(int argc, char** argv) {
  OmpWorkerSettings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const char* const value = argv[i + 1];
    if (option == "--construct")
      settings.construct = value;
    else if (option == "--threads")
      settings.num_threads = std::atoi(value);
    else if (option == "--budget-ms")
      settings.budget_ns = std::atof(value) * 1e6;
    else if (option == "--delay-ns")
      settings.delay_ns = std::atof(value);
    else if (option == "--operations")
      settings.graph.num_operations = std::atoi(value);
    else if (option == "--graph-seed")
      settings.graph.seed = std::strtoull(value, nullptr, 10);
    else if (option == "--graph-ms")
      settings.graph.work_ms = std::atof(value);
    else
      return std::nullopt;
  }
  if (argc <= 1 || argc % 2 == 0 || settings.num_threads <= 0 || settings.budget_ns <= 0 ||
      settings.graph.num_operations <= 0)
    return std::nullopt;
  return settings;
}

// ---- samples of a construct, whichever it is ----

// A construct that can be measured.
struct Construct {
  std::string_view name;
  double (*time)(long count);
  int per_count;   // number of measured constructs in one count
  bool has_delay;  // it contains the delay, which must be subtracted
  // What others do decides about single batches: only the mean of a whole run says what a program
  // gets.
  bool as_mean = false;
};

// The duration of a whole batch, including what the batch does not count.
double duration_ns(const Construct& construct, long count) {
  const double start = now_ns();
  construct.time(count);
  return now_ns() - start;
}

// Finds the count that fills a batch, by trials of growing size. A trial that seems to fill it is
// repeated. A disturbed one would make the batches so small that their first and last construct
// would dominate them. The trials also warm up the team.
long calibrate(const Construct& construct, double batch_ns, double deadline_ns) {
  constexpr int kMostTrials = 4;
  for (long count = 1;; count *= 4) {
    double elapsed = duration_ns(construct, count);
    for (int i = 1; i < kMostTrials && elapsed > batch_ns / 4 && now_ns() < deadline_ns; ++i) {
      elapsed = std::min(elapsed, duration_ns(construct, count));
    }
    if (elapsed > batch_ns / 4 || now_ns() > deadline_ns) {
      return std::max(
          1L, static_cast<long>(static_cast<double>(count) * batch_ns / std::max(elapsed, 1.0)));
    }
  }
}

// Measures three batches at least, even if one takes longer than the whole budget. But it ends when
// four budgets are spent.
std::vector<double> measure(const Construct& construct, const OmpWorkerSettings& settings,
                            long& count) {
  constexpr std::size_t kFewestBatches = 3;
  constexpr double kNumBatches = 40;
  const double start = now_ns();
  count = calibrate(construct, settings.budget_ns / kNumBatches, start + settings.budget_ns);
  const double measuring = now_ns();
  const double reference_ns = construct.has_delay ? settings.delay_ns : 0;
  std::vector<double> samples;
  while (true) {
    const double batch_ns = construct.time(count);
    samples.push_back(batch_ns / static_cast<double>(count) / construct.per_count - reference_ns);
    const double spent = now_ns() - measuring;
    if (spent > settings.budget_ns &&
        (samples.size() >= kFewestBatches || spent > 4 * settings.budget_ns))
      break;
  }
  if (!construct.as_mean) return samples;
  return {std::accumulate(samples.begin(), samples.end(), 0.0) /
          static_cast<double>(samples.size())};
}

// ---- constructs ----

constexpr int kTasksPerSingle = 256;  // the initial capacity of libomp's task deque
// A small task: its management costs more than its work.
constexpr double kTaskNs = 100;
// Work before an isolated barrier. Afterwards nothing of the previous barrier is left to do.
constexpr double kSettleNs = 1000;

int num_threads = 1;
long delay_iterations = 0;  // work before each construct
long task_iterations = 0;
long settle_iterations = 0;
long beside_iterations = 0;
double clock_ns = 0;
double sum = 0;  // target of the reductions; shared, because an orphaned reduction needs that

void work() { burn(delay_iterations); }

// The time that the primary thread takes for `count` calls of `construct`. All threads of one
// region make them. Entering and leaving the region is not included.
template <class Construct>
double time_inside_region(long count, Construct construct) {
  double elapsed_ns = 0;
#pragma omp parallel num_threads(num_threads)
  {
#pragma omp barrier
    const double start = now_ns();
    for (long i = 0; i < count; ++i) construct();
    if (omp_get_thread_num() == 0) elapsed_ns = now_ns() - start;
  }
  return elapsed_ns;
}

// Does not use time_inside_region(), so that the barrier is in the region itself, as in EPCC's
// benchmark. In a function of its own it would first have to ask the runtime for the thread's
// number.
double time_barrier(long count) {
  double elapsed_ns = 0;
#pragma omp parallel num_threads(num_threads)
  {
#pragma omp barrier
    const double start = now_ns();
    for (long i = 0; i < count; ++i) {
      work();
#pragma omp barrier
    }
    if (omp_get_thread_num() == 0) elapsed_ns = now_ns() - start;
  }
  return elapsed_ns;
}

double time_for(long count) {
  return time_inside_region(count, [] {
#pragma omp for schedule(static)
    for (int i = 0; i < num_threads; ++i) work();
  });
}

// It is a function, because Clang takes a reduction variable inside a lambda for a capture.
void reduce_once() {
#pragma omp for schedule(static) reduction(+ : sum)
  for (int i = 0; i < num_threads; ++i) {
    work();
    sum += 1;
  }
}

double time_for_reduction(long count) { return time_inside_region(count, reduce_once); }

double time_single(long count) {
  return time_inside_region(count, [] {
#pragma omp single
    work();
  });
}

double time_tasks(long count) {
  return time_inside_region(count, [] {
#pragma omp single
    for (int i = 0; i < kTasksPerSingle; ++i) {
#pragma omp task
      burn(task_iterations);
    }
  });
}

double time_parallel(long count) {
  const double start = now_ns();
  for (long i = 0; i < count; ++i) {
#pragma omp parallel num_threads(num_threads)
    work();
  }
  return now_ns() - start;
}

double time_reduction(long count) {
  const double start = now_ns();
  for (long i = 0; i < count; ++i) {
#pragma omp parallel num_threads(num_threads) reduction(+ : sum)
    {
      work();
      sum += 1;
    }
  }
  return now_ns() - start;
}

double time_parallel_for(long count) {
  const double start = now_ns();
  for (long i = 0; i < count; ++i) {
#pragma omp parallel for num_threads(num_threads) schedule(static)
    for (int k = 0; k < num_threads; ++k) work();
  }
  return now_ns() - start;
}

double time_beside(long count) {
  const double start = now_ns();
  for (long i = 0; i < count; ++i) {
#pragma omp parallel num_threads(num_threads)
    burn(beside_iterations);
  }
  return now_ns() - start;
}

// Each thread stores when it arrives and when it leaves. After a second barrier the primary thread
// reads these times.
double time_isolated(long count) {
  struct alignas(128) Note {
    double arrived = 0;
    double left = 0;
  };
  std::vector<Note> notes(static_cast<std::size_t>(num_threads));
  double total_ns = 0;
#pragma omp parallel num_threads(num_threads)
  {
    const int self = omp_get_thread_num();
    Note& note = notes[static_cast<std::size_t>(self)];
    for (long i = 0; i < count; ++i) {
      burn(settle_iterations);
      note.arrived = now_ns();
#pragma omp barrier
      note.left = now_ns();
#pragma omp barrier
      if (self == 0) {
        Note last = notes.front();
        for (const Note& other : notes) {
          last.arrived = std::max(last.arrived, other.arrived);
          last.left = std::max(last.left, other.left);
        }
        total_ns += last.left - last.arrived - clock_ns;
      }
#pragma omp barrier
    }
  }
  return total_ns;
}

constexpr Construct kMeasured[] = {
    {"barrier", time_barrier, 1, true},
    {"isolated", time_isolated, 1, false},
    {"parallel", time_parallel, 1, true},
    {"reduction", time_reduction, 1, true},
    {"parallel-for", time_parallel_for, 1, true},
    {"single", time_single, 1, true},
    {"for-reduction", time_for_reduction, 1, true},
    {"for", time_for, 1, true},
    {"tasks", time_tasks, kTasksPerSingle, false},
    {kBeside, time_beside, 1, false, true},
};

// ---- decodes, whose samples are whole graphs ----

std::vector<std::unique_ptr<DecodePart>> parts;  // by thread
std::vector<double> cpu_ns;                      // by thread

// Each thread makes its part, so that this is in its own memory.
void make_parts(const DecodeGraph& graph) {
  const std::vector<long> operations = operation_lines(graph);
  parts.resize(static_cast<std::size_t>(num_threads));
  cpu_ns.resize(parts.size());
#pragma omp parallel num_threads(num_threads)
  {
    const int self = omp_get_thread_num();
    parts[static_cast<std::size_t>(self)] =
        std::make_unique<DecodePart>(operations, self, num_threads);
  }
}

DecodePart& own_part() { return *parts[static_cast<std::size_t>(omp_get_thread_num())]; }

// As llama.cpp does.
double time_graph_of_barriers() {
  const double start = now_ns();
#pragma omp parallel num_threads(num_threads)
  {
    DecodePart& part = own_part();
    for (std::size_t i = 0; i < part.num_operations(); ++i) {
      part.operate(i);
#pragma omp barrier
    }
  }
  return now_ns() - start;
}

// As PyTorch and vLLM's worker for cpus do.
double time_graph_of_regions() {
  const std::size_t num_operations = parts.front()->num_operations();
  const double start = now_ns();
  for (std::size_t i = 0; i < num_operations; ++i) {
#pragma omp parallel num_threads(num_threads)
    own_part().operate(i);
  }
  return now_ns() - start;
}

// All threads work at the same time, because the cpus' clock depends on it.
double time_ideal() {
#pragma omp parallel num_threads(num_threads)
  cpu_ns[static_cast<std::size_t>(omp_get_thread_num())] = own_part().cpu_ns_alone();
  return std::accumulate(cpu_ns.begin(), cpu_ns.end(), 0.0) /
         std::min(num_threads, omp_get_num_procs());
}

int actual_team_size() {
  int size = 0;
#pragma omp parallel num_threads(num_threads)
  if (omp_get_thread_num() == 0) size = omp_get_num_threads();
  return size;
}

int identify() {
  num_threads = 2;
  // A region is run, so that the runtime prints its settings, if asked to, and its warnings.
  actual_team_size();
#if defined(__clang__)
  const char* const compiler = __VERSION__;  // it names Clang itself
#else
  const char* const compiler = "GCC " __VERSION__;
#endif
  std::printf("{\"library\": \"%s\", \"openmp\": %d, \"compiler\": \"%s\"}\n",
              file_of("omp_get_num_threads").c_str(), _OPENMP, compiler);
  return 0;
}

std::string list_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    char number[32];
    std::snprintf(number, sizeof number, "%s%.2f", text.empty() ? "" : ", ", value);
    text += number;
  }
  return "[" + text + "]";
}

// `ideal` is empty for constructs that have none.
void print(const std::vector<double>& samples, long count, const std::vector<double>& ideal = {}) {
  std::printf("{\"library\": \"%s\", \"batch\": %ld, \"samples\": %s, \"ideal\": %s}\n",
              file_of("omp_get_num_threads").c_str(), count, list_of(samples).c_str(),
              list_of(ideal).c_str());
}

int usage() {
  std::fputs("omp_barrier_worker: started by omp_barrier_bench, not by hand\n", stderr);
  return 2;
}

void run_decode(const OmpWorkerSettings& settings) {
  make_parts(settings.graph);
  const auto time_graph =
      settings.construct == kDecode ? time_graph_of_barriers : time_graph_of_regions;
  const DecodeSamples samples = measure_decode(settings.budget_ns, time_graph, time_ideal);
  print(samples.graph, 1, samples.ideal);
}

void run_construct(const Construct& construct, const OmpWorkerSettings& settings) {
  long count = 0;
  const std::vector<double> samples = measure(construct, settings, count);
  print(samples, count);
}

int run(const OmpWorkerSettings& settings) {
  num_threads = settings.num_threads;
  delay_iterations = settings.delay_ns > 0 ? burn_iterations(settings.delay_ns) : 0;
  task_iterations = burn_iterations(kTaskNs);
  settle_iterations = burn_iterations(kSettleNs);
  beside_iterations = burn_iterations(kBesideWorkNs);
  clock_ns = clock_cost_ns();
  omp_set_dynamic(0);
  const auto construct =
      std::find_if(std::begin(kMeasured), std::end(kMeasured),
                   [&](const Construct& known) { return known.name == settings.construct; });
  if (construct == std::end(kMeasured) && !is_decode(settings.construct)) return usage();
  if (const int size = actual_team_size(); size != num_threads) {
    std::fprintf(stderr, "asked for %d threads, the runtime gave %d\n", num_threads, size);
    return 3;
  }
  if (is_decode(settings.construct)) {
    run_decode(settings);
  } else {
    run_construct(*construct, settings);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--identify") return identify();
  const std::optional<OmpWorkerSettings> settings = parse_settings(argc, argv);
  return settings ? run(*settings) : usage();
}

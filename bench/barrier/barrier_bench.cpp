// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Measures the engine, and other algorithms on request, against std::barrier and pthread_barrier_t.
// The physical floors of the same run are shown beside them. What is measured is the period of
// back-to-back crossings, as participant 0 sees it. The repetitions of all rows are interleaved,
// because a virtual machine changes during a measurement: compare only within one run. Takes Google
// Benchmark's options, for example --benchmark_filter=/2 --benchmark_format=json. By default it
// prints the medians of several repetitions.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrier/algorithm.hpp"
#include "barrier/thread_host.hpp"
#include "base/membarrier.hpp"
#include "bench/barrier/team.hpp"
#include "bench/common/floors/floors.hpp"
#include "bench/common/host.hpp"
#include "bench/common/statistics.hpp"
#include "plan/shape.hpp"

// The measured barriers. All have a constructor (participants, cpus, ...) and cross(participant).

namespace hierbar::bench {

using Mem = RealMem<ThreadHost>;

// Zero pages that nobody has touched. The kernel allocates each one near the participant that
// writes it first.
class FreshPages {
 public:
  explicit FreshPages(std::size_t size_bytes)
      : size_bytes_(size_bytes),
        memory_(
            mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~FreshPages() { munmap(memory_, size_bytes_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;

  void* get() const { return memory_; }

 private:
  std::size_t size_bytes_;
  void* memory_;
};

// One of the project's algorithms; B is its class. Threads do not spin if they outnumber the cpus,
// and all threads may sleep.
template <class B>
class AlgorithmBarrier {
 public:
  AlgorithmBarrier(std::uint32_t num_participants, std::size_t num_cpus, EnginePlan plan)
      : plan_(std::move(plan)),
        view_(plan_.view()),
        memory_(B::size_bytes(view_)),
        barrier_(make(view_, memory_.get(), num_participants <= num_cpus)),
        spots_(num_participants) {
    if (num_participants > num_cpus) policy_ = policy_.outnumbered();
    policy_.pauses_per_poll = measure_pauses_per_poll();
    for (std::uint32_t p = 0; p < num_participants; ++p)
      hosts_.emplace_back(spots_.data(), p, policy_, aborted_);
  }

  void cross(std::uint32_t me) noexcept {
    Mem mem(hosts_[me]);
    static_cast<void>(hierbar::cross(barrier_, mem, me));  // nobody aborts
  }

 private:
  // As the C API makes it: sleepers of the engine fence for the writers where they may.
  static B make(const hierbar_plan& plan, void* memory, [[maybe_unused]] bool sleeps_are_rare) {
    if constexpr (std::is_constructible_v<B, const hierbar_plan&, void*, Fencing>) {
      return B(plan, memory,
               sleeps_are_rare && can_fence_threads() ? Fencing::kBySleepers : Fencing::kByWriters);
    } else {
      return B(plan, memory);
    }
  }

  const EnginePlan plan_;
  const hierbar_plan view_;
  const FreshPages memory_;
  const B barrier_;
  WaitPolicy policy_ = WaitPolicy::of_threads();
  std::vector<ParkingSpot> spots_;
  AbortFlag aborted_{0};
  std::deque<ThreadHost> hosts_;
};

class StdBarrier {
 public:
  StdBarrier(std::uint32_t num_participants, std::size_t) : barrier_(num_participants) {}
  void cross(std::uint32_t) { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
};

class PthreadBarrier {
 public:
  PthreadBarrier(std::uint32_t num_participants, std::size_t) {
    pthread_barrier_init(&barrier_, nullptr, num_participants);
  }
  ~PthreadBarrier() { pthread_barrier_destroy(&barrier_); }
  PthreadBarrier(const PthreadBarrier&) = delete;
  PthreadBarrier& operator=(const PthreadBarrier&) = delete;
  void cross(std::uint32_t) { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

namespace {

struct BarrierBenchOptions {
  std::vector<Algorithm> algorithms;           // never empty, no duplicates
  std::vector<std::string> benchmark_options;  // the rest, for Google Benchmark
};

constexpr const char* kDescription =
    "Measures the period of back-to-back barrier crossings of 2 to 16 threads, beside "
    "std::barrier, pthread_barrier_t and the\n"
    "physical floors. Compare within one run only.\n";

constexpr const char* kFooter =
    "Environment:\n"
    "  HIERBAR_LEVELS     levels of the groups of `topo`, for example numa or numa,package\n"
    "  HIERBAR_TOPOLOGY   a machine to plan for in place of this one\n"
    "\n"
    "Exit status: 0 measured, 2 wrong arguments\n"
    "\n"
    "Examples:\n"
    "  barrier_bench --algorithm all --benchmark_filter=/8/\n"
    "  barrier_bench --algorithm hier,topo,mcs --benchmark_out=result.json\n"
    "\n"
    "The other options are Google Benchmark's:\n";

constexpr const char* kAll = "all";

std::string algorithm_help() {
  std::string text = "Which algorithms, separated by commas, or `all`. Default: hier.";
  for (const NamedAlgorithm& named : kAlgorithms) text += fmt::format("\n{}", named.name);
  return text;
}

// Adds the algorithms of one element of the list. Returns the problem; empty if there is none.
std::string add_algorithms(const std::string& name, std::vector<Algorithm>& algorithms) {
  const std::optional<Algorithm> only = parse_algorithm(name);
  if (!only && name != kAll) {
    return fmt::format("'{}': no such algorithm; allowed: {}, or a comma list of {}", name, kAll,
                       kAllowedAlgorithms);
  }
  for (const NamedAlgorithm& named : kAlgorithms) {
    const bool is_new =
        std::find(algorithms.begin(), algorithms.end(), named.algorithm) == algorithms.end();
    if (is_new && (!only || *only == named.algorithm)) algorithms.push_back(named.algorithm);
  }
  return {};
}

// Reads the command line. Returns the exit status if the program must end: 0 for help, 2 for an
// unknown algorithm. The message has been printed then.
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv,
                                               BarrierBenchOptions& options) {
  CLI::App app(kDescription, "barrier_bench");
  app.footer(kFooter);
  app.allow_extras();
  std::vector<std::string> names{std::string(algorithm_name(Algorithm::kHier))};
  app.add_option("--algorithm", names, algorithm_help())->delimiter(',')->option_text("NAME,...");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_help = app.exit(error) == 0;
    if (is_help) benchmark::PrintDefaultHelp();
    return is_help ? 0 : 2;
  }
  for (const std::string& name : names) {
    const std::string problem = add_algorithms(name, options.algorithms);
    if (problem.empty()) continue;
    std::cerr << "barrier_bench: --algorithm: " << problem << '\n';
    return 2;
  }
  options.benchmark_options = app.remaining();
  return std::nullopt;
}

constexpr int kTeamSizes[] = {2, 4, 8, 16};
constexpr std::chrono::milliseconds kFloorBudget{40};

template <class Barrier, class... Arguments>
void measure_barrier(benchmark::State& state, const Arguments&... arguments) {
  MeasuredTeam<Barrier> team(static_cast<std::uint32_t>(state.range(0)), arguments...);
  for (auto _ : state) team.cross();
}

void measure_algorithm(benchmark::State& state, Algorithm algorithm, const EnginePlan& plan) {
  visit_algorithm<Mem>(algorithm, [&](auto type) {
    measure_barrier<AlgorithmBarrier<typename decltype(type)::type>>(state, plan);
  });
}

// Floors are measured by code that all benchmarks share. The better median goes into the table as
// one iteration.
void report(benchmark::State& state, const FloorSamples& samples, const std::string& name) {
  double best_ns = 0;
  for (const std::string& kind : {name, name + "-pause", name + "-2pauses"}) {
    const auto found = samples.find(kind);
    if (found == samples.end()) continue;
    const double ns = median(found->second).value_or(0);
    if (best_ns == 0 || ns < best_ns) best_ns = ns;
  }
  for (auto _ : state) state.SetIterationTime(best_ns * 1e-9);
}

void measure_one_way_floor(benchmark::State& state) {
  report(state, measure_one_way(cpu_of(0), cpu_of(1), kFloorBudget), "one-way");
}

void measure_exchange_floor(benchmark::State& state, const char* name) {
  const std::vector<int> cpus(host().cpus.begin(), host().cpus.begin() + state.range(0));
  report(state, measure_exchange(cpus, kFloorBudget), name);
}

void measure_yield_floor(benchmark::State& state) {
  report(state, measure_yield_exchange(static_cast<int>(state.range(0)), host().cpus, kFloorBudget),
         "exchange-yield");
}

// Registers the rows in the order of the table: the floor that applies, then the barriers.
void register_team_size(int size, const std::vector<Algorithm>& algorithms, TeamPlans& plans) {
  const auto add = [size](const std::string& name, auto&& function) {
    return benchmark::RegisterBenchmark(name.c_str(), function)->Arg(size);
  };
  if (static_cast<std::size_t>(size) <= host().cpus.size()) {
    for (const char* name : {"exchange-mov", "exchange-xchg"}) {
      add(std::string("floor/") + name,
          [name](benchmark::State& state) { measure_exchange_floor(state, name); })
          ->Iterations(1)
          ->UseManualTime();
    }
  } else {
    add("floor/exchange-yield", measure_yield_floor)->Iterations(1)->UseManualTime();
  }
  for (const Algorithm algorithm : algorithms) {
    const std::string name(algorithm == Algorithm::kHier ? "hierbar" : algorithm_name(algorithm));
    add(name, [algorithm, plan = plans.make(algorithm, size)](benchmark::State& state) {
      measure_algorithm(state, algorithm, plan);
    })->UseRealTime();
  }
  add("std::barrier", [](benchmark::State& state) {
    measure_barrier<StdBarrier>(state);
  })->UseRealTime();
  add("pthread_barrier", [](benchmark::State& state) {
    measure_barrier<PthreadBarrier>(state);
  })->UseRealTime();
}

void add_context(const TeamPlans& plans) {
  benchmark::AddCustomContext("cpu", host().cpu_model + (host().hypervisor ? " (virtual)" : ""));
  benchmark::AddCustomContext("topology", host().topology);
  benchmark::AddCustomContext("kernel", host().kernel);
  benchmark::AddCustomContext("binding", "one thread per cpu, in turn");
  benchmark::AddCustomContext("topo levels", plans.levels());
  benchmark::AddCustomContext("compiler", HIERBAR_BENCH_COMPILER);
  benchmark::AddCustomContext("flags", HIERBAR_BENCH_FLAGS);
  benchmark::AddCustomContext("revision", kRevision);
}

}  // namespace
}  // namespace hierbar::bench

int main(int argc, char** argv) {
  using namespace hierbar::bench;
  BarrierBenchOptions options;
  if (const std::optional<int> status = parse_options(argc, argv, options)) return *status;
  hierbar::Result<TeamPlans> plans = TeamPlans::load();
  if (!plans) {
    std::cerr << "barrier_bench: " << plans.error() << '\n';
    return 2;
  }

  // 1. Defaults come first, so that the user's options override them.
  std::vector<std::string> texts = {argv[0], "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_repetitions=5", "--benchmark_min_time=0.05",
                                    "--benchmark_display_aggregates_only=true"};
  texts.insert(texts.end(), options.benchmark_options.begin(), options.benchmark_options.end());
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  int count = static_cast<int>(arguments.size());

  // 2. Register the rows.
  if (host().cpus.size() > 1) {
    benchmark::RegisterBenchmark("floor/one-way", measure_one_way_floor)
        ->Iterations(1)
        ->UseManualTime();
  }
  for (const int size : kTeamSizes) register_team_size(size, options.algorithms, *plans);
  for (const std::string& note : plans->notes()) std::cerr << "barrier_bench: " << note << '\n';

  // 3. Measure. The results also say what a reader must know about the machine.
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  add_context(*plans);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

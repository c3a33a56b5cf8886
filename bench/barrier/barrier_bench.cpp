// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The engine against std::barrier and pthread_barrier_t, with the physical floors of the same run beside them. What is measured
// is the period of back-to-back crossings, as participant 0 sees it. Repetitions of all rows are interleaved, because a virtual
// machine changes while one measures: compare within one run only. Takes Google Benchmark's options, for example
// --benchmark_filter=/2 --benchmark_format=json; by default it prints the medians of several repetitions.

#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "barriers.hpp"
#include "common/floors.hpp"
#include "common/host.hpp"
#include "common/revision.hpp"
#include "common/statistics.hpp"

namespace hierbar::bench {
namespace {

constexpr int kTeamSizes[] = {2, 4, 8, 16};
constexpr std::chrono::milliseconds kFloorBudget{40};

const Host& host() {
  static const Host described = describe_host();
  return described;
}

int cpu_of(std::uint32_t participant) { return host().cpus[participant % host().cpus.size()]; }

// Where the calling thread may run; a cpu that cannot be had costs precision only.
void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

// Participant 0 is the caller; the others are threads that cross as long as it does.
template <class Barrier>
class Team {
 public:
  explicit Team(std::uint32_t num_participants) : barrier_(num_participants, host().cpus.size()) {
    sched_getaffinity(0, sizeof caller_cpus_, &caller_cpus_);
    bind_to(cpu_of(0));
    for (std::uint32_t me = 1; me < num_participants; ++me) {
      threads_.emplace_back([this, me] {
        bind_to(cpu_of(me));
        std::uint64_t num_crossings = 0;
        do {
          barrier_.cross(me);
          ++num_crossings;
        } while (num_crossings != last_.load(std::memory_order_relaxed));
      });
    }
    for (int i = 0; i < kWarmUpCrossings; ++i) cross();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    // Seen by all after the crossing that it precedes, and by some perhaps before: hence a number and not a flag.
    last_.store(num_crossings_ + 1, std::memory_order_relaxed);
    cross();
    for (std::thread& thread : threads_) thread.join();
    sched_setaffinity(0, sizeof caller_cpus_, &caller_cpus_);
  }

  void cross() {
    barrier_.cross(0);
    ++num_crossings_;
  }

 private:
  static constexpr int kWarmUpCrossings = 100;

  Barrier barrier_;
  alignas(128) std::uint64_t num_crossings_ = 0;     // participant 0's; in a line that nobody else reads
  alignas(128) std::atomic<std::uint64_t> last_{0};  // number of the last crossing; 0: not known yet. Writer: participant 0
  std::vector<std::thread> threads_;
  cpu_set_t caller_cpus_{};
};

template <class Barrier>
void measure_barrier(benchmark::State& state) {
  Team<Barrier> team(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) team.cross();
}

// A floor is measured by the code that all benchmarks share; its median goes into the table as one iteration.
void report(benchmark::State& state, const FloorSamples& samples, const std::string& name) {
  double best_ns = 0;
  for (const std::string& kind : {name, name + "-pause"}) {
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
  report(state, measure_yield_exchange(static_cast<int>(state.range(0)), host().cpus, kFloorBudget), "exchange-yield");
}

// One after the other in the order of the table: the floor that applies, then the barriers.
void register_team_size(int size) {
  const auto add = [size](const std::string& name, auto&& function) {
    return benchmark::RegisterBenchmark(name.c_str(), function)->Arg(size);
  };
  if (static_cast<std::size_t>(size) <= host().cpus.size()) {
    for (const char* name : {"exchange-mov", "exchange-xchg"}) {
      add(std::string("floor/") + name, [name](benchmark::State& state) { measure_exchange_floor(state, name); })
          ->Iterations(1)
          ->UseManualTime();
    }
  } else {
    add("floor/exchange-yield", measure_yield_floor)->Iterations(1)->UseManualTime();
  }
  add("hierbar", measure_barrier<EngineBarrier>)->UseRealTime();
  add("std::barrier", measure_barrier<StdBarrier>)->UseRealTime();
  add("pthread_barrier", measure_barrier<PthreadBarrier>)->UseRealTime();
}

void add_context() {
  benchmark::AddCustomContext("cpu", host().cpu_model + (host().hypervisor ? " (virtual)" : ""));
  benchmark::AddCustomContext("topology", host().topology);
  benchmark::AddCustomContext("kernel", host().kernel);
  benchmark::AddCustomContext("binding", "one thread per cpu, in turn");
  benchmark::AddCustomContext("compiler", HIERBAR_BENCH_COMPILER);
  benchmark::AddCustomContext("flags", HIERBAR_BENCH_FLAGS);
  benchmark::AddCustomContext("revision", kRevision);
}

}  // namespace
}  // namespace hierbar::bench

int main(int argc, char** argv) {
  using namespace hierbar::bench;
  // 1. Defaults first, so that options given by the user win.
  std::vector<std::string> defaults = {argv[0], "--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=5",
                                       "--benchmark_min_time=0.05", "--benchmark_display_aggregates_only=true"};
  std::vector<char*> arguments;
  for (std::string& text : defaults) arguments.push_back(text.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());

  // 2. Rows.
  if (host().cpus.size() > 1) {
    benchmark::RegisterBenchmark("floor/one-way", measure_one_way_floor)->Iterations(1)->UseManualTime();
  }
  for (const int size : kTeamSizes) register_team_size(size);

  // 3. Results, with what a reader must know about the machine.
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  add_context();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

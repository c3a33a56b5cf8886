// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// omp_barrier_bench: OpenMP constructs under different runtimes, side by side. mpi_barrier_bench:
// MPI_Barrier under different MPI libraries. mpi_collective_bench: MPI_Allreduce, MPI_Bcast,
// MPI_Reduce, MPI_Allgather, MPI_Alltoall, MPI_Gather, MPI_Scatter and MPI_Reduce_scatter_block of
// few bytes under different MPI libraries. `--help` prints their manuals.
//
// CMakeLists.txt names the options of each program, HIERBAR_BENCH_OPTIONS.

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/common/host.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/common/report/report_text.hpp"
#include "bench/common/run_options.hpp"
#include "bench/common/stop_requests.hpp"
#include "bench/runtimes/configuration.hpp"
#include "bench/runtimes/mpi/bench.hpp"
#include "bench/runtimes/omp/bench.hpp"

namespace hierbar::bench {
namespace {

// Derived from RunOptions. It names the program, and its namespace has the functions of bench.hpp
// and parse_options().
using Options = HIERBAR_BENCH_OPTIONS;

// Exit status: this, and the signal that stopped it.
constexpr int kSignalled = 128;

int run_bench(const Options& options) {
  // 1. Find out what can be measured.
  const Host host = describe_host();
  auto configurations = make_configurations(options);
  for (auto& configuration : configurations)
    if (configuration.unavailable.empty()) identify(configuration);
  if (options.has_tables()) fmt::print("{}", header_text(options, host, configurations));
  std::fflush(stdout);
  if (options.list) return 0;
  if (!is_any_available(configurations)) {
    fmt::print(stderr, "{}: none of the configurations can be measured; --list says why\n",
               Options::kProgram);
    return kUsage;
  }

  // 2. Measure and judge.
  JsonOutput json(options.json_path);
  const StopRequests stops(options.stop_after_s);
  const Measurements measurements = measure(options, host, configurations);
  std::vector<Verdict> verdicts;
  if (options.check) verdicts = judge(measurements, options, static_cast<int>(host.cpus.size()));

  // 3. Report.
  if (options.has_tables()) {
    fmt::print("{}{}", tables_text(measurements, options),
               run_text(measurements, options.num_repetitions, options.time_limit_s));
    if (options.check) fmt::print("\n{}", verdicts_text(verdicts));
  }
  json.write(json_report(measurements, options, host, configurations, verdicts));
  if (measurements.stopped_by != 0 && measurements.stopped_by != SIGALRM)
    return kSignalled + measurements.stopped_by;
  return options.check && !all_pass(verdicts) ? 1 : 0;
}

}  // namespace
}  // namespace hierbar::bench

int main(int argc, char** argv) {
  using hierbar::bench::Options;
  return hierbar::bench::run_driver<Options>(
      Options::kProgram, argc, argv,
      [](int count, char** words, Options& options) {
        return parse_options(count, words, options);
      },
      hierbar::bench::run_bench);
}

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mpi_barrier_bench: MPI_Barrier under different MPI libraries, side by side. `--help` prints its
// manual.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/common/driver.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/json_output.hpp"
#include "bench/common/report/report_text.hpp"
#include "bench/mpi/configuration.hpp"
#include "bench/mpi/options.hpp"
#include "bench/mpi/report.hpp"
#include "bench/mpi/session.hpp"
#include "bench/mpi/targets.hpp"
#include "bench/mpi/wheel_link.hpp"

namespace {

using namespace hierbar::bench;
using namespace hierbar::bench::mpi;

constexpr const char* kName = "mpi_barrier_bench";

int run(const MpiBenchOptions& options) {
  // 1. Find out what can be measured.
  const Host host = describe_host();
  const WheelLink wheel(options.wheel_dir);
  std::vector<Configuration> configurations = make_configurations(options, wheel.dir());
  for (Configuration& configuration : configurations) identify(configuration);
  if (const auto status = show_configurations(kName, options, host, configurations)) return *status;

  // 2. Measure and judge.
  JsonOutput json(options.json_path);
  const Measurements measurements = measure(options, host, configurations);
  std::vector<Verdict> verdicts;
  if (options.check) verdicts = judge(measurements);

  // 3. Report.
  if (options.has_tables()) {
    fmt::print("{}{}", table_text(measurements), run_text(measurements, options.num_repetitions, options.time_limit_s));
    if (options.check) fmt::print("\n{}", verdicts_text(verdicts));
  }
  json.write(json_report(measurements, options, host, configurations, verdicts));
  return options.check && !all_pass(verdicts) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run_driver<MpiBenchOptions>(kName, argc, argv, parse_options, run); }

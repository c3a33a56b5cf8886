// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// omp_barrier_bench: OpenMP constructs under different runtimes, side by side. `--help` prints its
// manual.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/common/driver.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/json_output.hpp"
#include "bench/common/report/report_text.hpp"
#include "bench/omp/configuration.hpp"
#include "bench/omp/options.hpp"
#include "bench/omp/report.hpp"
#include "bench/omp/session.hpp"
#include "bench/omp/targets.hpp"

namespace {

using namespace hierbar::bench;

constexpr const char* kName = "omp_barrier_bench";

int run(const OmpBenchOptions& options) {
  // 1. Find out what can be measured.
  const Host host = describe_host();
  std::vector<Configuration> configurations = make_configurations(options);
  if (const auto status = show_configurations(kName, options, host, configurations)) return *status;

  // 2. Measure and judge.
  JsonOutput json(options.json_path);
  const Results results = measure(options, host, std::move(configurations));
  std::vector<Verdict> verdicts;
  if (options.check) verdicts = judge(results, options, static_cast<int>(host.cpus.size()));

  // 3. Report.
  if (options.has_tables()) {
    if (!options.brief) fmt::print("{}", groups_text(results, options));
    fmt::print("{}", overview_text(results, options));
    if (options.check) fmt::print("\n{}", verdicts_text(verdicts));
  }
  json.write(json_report(results, options, host, verdicts));
  return options.check && !all_pass(verdicts) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run_driver<OmpBenchOptions>(kName, argc, argv, parse_options, run); }

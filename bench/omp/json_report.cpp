// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>

#include "bench/common/report/report_json.hpp"
#include "bench/common/revision.hpp"
#include "bench/omp/report.hpp"

// The layout. "format" names it, and changes when readers would have to change. Times are in ns;
// absent values are null.
namespace hierbar::bench {
namespace {

using nlohmann::json;

json to_json(const Configuration& configuration) {
  return {{"name", configuration.name},
          {"explains", configuration.explains},
          {"library", configuration.loaded_library},
          {"version", configuration.version},
          {"program", configuration.worker},
          {"compiler", configuration.compiler},
          {"openmp", configuration.openmp},
          {"environment", configuration.variables},
          {"unavailable", or_null(configuration.unavailable)}};
}

}  // namespace

json json_report(const Results& results, const OmpBenchOptions& options, const Host& host, const std::vector<Verdict>& verdicts) {
  json report;
  report["format"] = "hierbar-omp-barrier-bench-1";
  report["host"] = to_json(host);
  report["build"] = {
      {"compiler", HIERBAR_BENCH_COMPILER}, {"revision", kRevision}, {"program_flags", HIERBAR_BENCH_WORKER_FLAGS}};
  report["settings"] = {
      {"repetitions", options.num_repetitions}, {"budget_ms", options.budget_ms}, {"delay_ns", options.delay_ns},
      {"reference", options.reference},         {"passive", options.passive},     {"blocktime", or_null(options.blocktime)}};
  report["run"] = run_json(results);
  if (options.tools) report["run"]["stamp_ns"] = results.stamp_ns;
  report["configurations"] = report["groups"] = report["targets"] = json::array();
  for (const Configuration& configuration : results.configurations) report["configurations"].push_back(to_json(configuration));
  for (const Group& group : results.groups) report["groups"].push_back(group_json(group, "construct", options.reference));
  for (const Verdict& verdict : verdicts) report["targets"].push_back(to_json(verdict));
  return report;
}

}  // namespace hierbar::bench

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/mpi/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/common/report/report_json.hpp"
#include "bench/common/report/report_text.hpp"
#include "bench/common/revision.hpp"
#include "bench/common/text.hpp"

namespace hierbar::bench::mpi {
namespace {

constexpr int kNameWidth = 25;
constexpr const char* kReference = "hier";

// The settings of a launch beside the number of ranks and the binding.
std::string settings_text(const Configuration& configuration) {
  std::string text;
  for (const std::string& argument : configuration.arguments) text += " " + argument;
  for (const auto& [name, value] : configuration.variables) text += fmt::format(" {}={}", name, value);
  return text;
}

std::string configuration_row(const Configuration& configuration) {
  const std::string start = fmt::format("  {:<{}}", configuration.name, kNameWidth);
  if (!configuration.unavailable.empty()) return start + fmt::format("skipped: {}\n", configuration.unavailable);
  return start + fmt::format("{} ({}){}\n", configuration.version, configuration.file, settings_text(configuration));
}

// The groups of one number of ranks. They follow each other in the measurements.
using Part = std::vector<const Group*>;

std::vector<Part> parts_of(const Measurements& measurements) {
  std::vector<Part> parts;
  for (const Group& group : measurements.groups) {
    if (parts.empty() || parts.back().front()->num_participants != group.num_participants) parts.emplace_back();
    parts.back().push_back(&group);
  }
  return parts;
}

std::string part_title(const Group& group) {
  return fmt::format("{}; {}; {}; {}", participants_text(group),
                     group.bound ? "each bound to a core" : "more than cpus, not bound", regime_text(group),
                     repetitions_text(group));
}

std::string median_cell(const Group& group, const std::string& name) {
  const Series* series = find_series(group, name);
  return series == nullptr ? "-" : number(summary_of(group, *series)->median);
}

std::string row(const Part& part, const Series& series) {
  const Group& group = *part.front();
  const auto summary = summary_of(group, series);
  if (!series.failure.empty() || !summary) {
    return fmt::format("  {:<{}}failed: {}\n", series.name, kNameWidth, series.failure.empty() ? "no samples" : series.failure);
  }
  const Series* reference = find_series(group, kReference);
  const auto ratio = reference == nullptr ? std::nullopt : ratio_of(group, series, *reference);
  std::string text = fmt::format("  {:<{}}{:>10}  {:>22}  {:>8}  {:>16}", series.name, kNameWidth, number(summary->median),
                                 fmt::format("{} .. {}", number(summary->lower_quartile), number(summary->upper_quartile)),
                                 ratio_cell(group, ratio), ratio ? spread_text(*ratio) : "-");
  for (std::size_t i = 1; i < part.size(); ++i) text += fmt::format("{:>10}", median_cell(*part[i], series.name));
  return text + "\n";
}

std::string part_text(const Part& part) {
  const Group& group = *part.front();
  std::string text = part_title(group) + "\n";
  text += fmt::format("  {:<{}}{:>10}  {:>22}  {:>8}  {:>16}", "ns", kNameWidth, group.quantity, "quartiles", "to hier",
                      "repetitions");
  for (std::size_t i = 1; i < part.size(); ++i) text += fmt::format("{:>10}", part[i]->quantity);
  text += "\n";
  for (const Series& series : group.series) {
    if (series.family != Family::kFloor) text += row(part, series);
  }
  if (const Series* floor = best_of(group, Family::kFloor)) text += row(part, *floor);
  return text + "\n";
}

nlohmann::json to_json(const Configuration& configuration) {
  return {{"name", configuration.name},
          {"explains", configuration.explains},
          {"version", configuration.version},
          {"library", configuration.file},
          {"launcher", configuration.launcher},
          {"arguments", configuration.arguments},
          {"environment", configuration.variables},
          {"unavailable", or_null(configuration.unavailable)}};
}

}  // namespace

std::string header_text(const MpiBenchOptions& options, const Host& host, const std::vector<Configuration>& configurations) {
  std::string text = host_text(host);
  text += fmt::format("bench      revision {}, built by {}\n", kRevision, HIERBAR_BENCH_COMPILER);
  text += fmt::format("program    by each MPI's own compiler driver, {}; MPI_THREAD_SINGLE\n", HIERBAR_BENCH_WORKER_FLAGS);
  text += fmt::format("measuring  {} of {:.0f} ms per figure and launch, in random order (--seed {})\n",
                      counted(options.num_repetitions, "repetition"), options.budget_ms, options.seed);
  text += "binding    one rank to a core, unless ranks outnumber cpus\nconfigurations\n";
  for (const Configuration& configuration : configurations) {
    text += configuration_row(configuration);
    if (configuration.name == "hier" && configuration.unavailable.empty()) {
      text += fmt::format("  {:<{}}PMPI_Barrier in the processes of hier, in turns with it, where each rank has a cpu\n", kInside,
                          kNameWidth);
    }
  }
  return text + "\n";
}

std::string table_text(const Measurements& measurements) {
  std::string text;
  for (const Part& part : parts_of(measurements)) text += part_text(part);
  return text;
}

nlohmann::json json_report(const Measurements& measurements, const MpiBenchOptions& options, const Host& host,
                           const std::vector<Configuration>& configurations, const std::vector<Verdict>& verdicts) {
  nlohmann::json report;
  report["format"] = "hierbar-mpi-barrier-bench-1";
  report["host"] = bench::to_json(host);
  report["build"] = {
      {"compiler", HIERBAR_BENCH_COMPILER}, {"revision", kRevision}, {"program_flags", HIERBAR_BENCH_WORKER_FLAGS}};
  report["settings"] = {{"repetitions", options.num_repetitions},
                        {"budget_ms", options.budget_ms},
                        {"seed", options.seed},
                        {"first", options.first},
                        {"thread_level", "single"}};
  report["run"] = run_json(measurements);
  report["configurations"] = report["groups"] = report["targets"] = nlohmann::json::array();
  for (const Configuration& configuration : configurations) report["configurations"].push_back(to_json(configuration));
  for (const Group& group : measurements.groups) report["groups"].push_back(group_json(group, "quantity", kReference));
  for (const Verdict& verdict : verdicts) report["targets"].push_back(bench::to_json(verdict));
  return report;
}

}  // namespace hierbar::bench::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/common/report/report_json.hpp"
#include "bench/common/report/report_text.hpp"
#include "bench/common/text.hpp"
#include "bench/runtimes/mpi/bench.hpp"

namespace hierbar::bench::mpi {
namespace {

constexpr ColumnWidths kWidths{.name = 25, .median = 14, .quartiles = 22, .ratio = 8, .spread = 16};
constexpr const char* kReference = "hier";

// The settings of a launch beside the number of ranks and the binding.
std::string settings_text(const MpiConfiguration& configuration) {
  std::string text;
  for (const std::string& argument : configuration.arguments) text += " " + argument;
  if (!configuration.variables.empty()) text += " " + to_string(configuration.variables);
  return text;
}

std::string configuration_row(const MpiConfiguration& configuration) {
  const std::string start = fmt::format("  {:<{}}", configuration.name, kWidths.name);
  if (!configuration.unavailable.empty())
    return start + fmt::format("skipped: {}\n", configuration.unavailable);
  return start + fmt::format("{} ({}){}\n", configuration.version, configuration.library,
                             settings_text(configuration));
}

// The groups of one number of ranks. They follow each other in the measurements.
using Part = std::vector<const Group*>;

std::vector<Part> parts_of(const Measurements& measurements) {
  std::vector<Part> parts;
  for (const Group& group : measurements.groups) {
    if (parts.empty() || parts.back().front()->num_participants != group.num_participants)
      parts.emplace_back();
    parts.back().push_back(&group);
  }
  return parts;
}

std::string part_title(const Group& group) {
  return fmt::format("{}; {}; {}; {}", participants_text(group),
                     group.bound ? "each bound to a core" : "more than cpus, not bound",
                     regime_text(group), repetitions_text(group));
}

std::string median_cell(const Group& group, const std::string& name) {
  const Series* series = find_series(group, name);
  return series == nullptr ? "-" : number(summary_of(group, *series)->median);
}

std::string row(const Part& part, const Series& series) {
  const Group& group = *part.front();
  std::string others;
  for (std::size_t i = 1; i < part.size(); ++i)
    others += fmt::format("{:>10}", median_cell(*part[i], series.name));
  return series_row(kWidths, group, series, find_series(group, kReference), others);
}

std::string part_text(const Part& part) {
  const Group& group = *part.front();
  std::string text = titles_row(
      kWidths,
      {.name = "ns", .median = group.quantity, .ratio = "to hier", .spread = "repetitions"});
  for (std::size_t i = 1; i < part.size(); ++i) text += fmt::format("{:>10}", part[i]->quantity);
  text += "\n";
  for (const Series& series : group.series) {
    if (series.family != Family::kFloor) text += row(part, series);
  }
  if (const Series* floor = best_of(group, Family::kFloor)) text += row(part, *floor);
  return text + "\n";
}

nlohmann::json json_report(const char* format, const Measurements& measurements,
                           const MpiBenchOptions& options, nlohmann::json more_settings,
                           const Host& host, const std::vector<MpiConfiguration>& configurations,
                           const std::vector<Verdict>& verdicts) {
  JsonParts parts{.format = format,
                  .settings = {{"repetitions", options.num_repetitions},
                               {"budget_ms", options.budget_ms},
                               {"seed", options.seed},
                               {"thread_level", "single"}},
                  .configurations = nlohmann::json::array(),
                  .quantity = "quantity",
                  .reference = kReference};
  parts.settings.update(more_settings);
  for (const MpiConfiguration& configuration : configurations) {
    nlohmann::json entry = to_json(configuration);
    entry["launcher"] = configuration.launcher;
    entry["arguments"] = configuration.arguments;
    parts.configurations.push_back(std::move(entry));
  }
  return bench::json_report(parts, measurements, host, verdicts);
}

}  // namespace

std::string header_text(const MpiBenchOptions& options, const Host& host,
                        const std::vector<MpiConfiguration>& configurations) {
  std::string text = machine_text(host);
  text += fmt::format("program    by each MPI's own compiler driver, {}; MPI_THREAD_SINGLE\n",
                      HIERBAR_BENCH_WORKER_FLAGS);
  text +=
      fmt::format("measuring  {} of {:.0f} ms per figure and launch, in random order (--seed {})\n",
                  counted(options.num_repetitions, "repetition"), options.budget_ms, options.seed);
  text += "binding    one rank to a core, unless ranks outnumber cpus\nconfigurations\n";
  for (const MpiConfiguration& configuration : configurations) {
    text += configuration_row(configuration);
    if (configuration.name == "hier" && configuration.unavailable.empty()) {
      text += fmt::format(
          "  {:<{}}the library's own in the processes of hier, in turns with ours, where each rank "
          "has a cpu\n",
          kInside, kWidths.name);
    }
  }
  return text + "\n";
}

std::string tables_text(const Measurements& measurements, const MpiBenchOptions&) {
  std::string text;
  for (const Part& part : parts_of(measurements))
    text += part_title(*part.front()) + "\n" + part_text(part);
  return text;
}

std::string tables_text(const Measurements& measurements, const CollectiveBenchOptions&) {
  std::string text;
  for (const Part& part : parts_of(measurements)) {
    text += part_title(*part.front()) + "\n";
    for (const Group* group : part) {
      const Group with_barrier = add_own_barrier(*group, *part.front());
      text += part_text({&with_barrier});
    }
  }
  return text;
}

nlohmann::json json_report(const Measurements& measurements, const MpiBenchOptions& options,
                           const Host& host, const std::vector<MpiConfiguration>& configurations,
                           const std::vector<Verdict>& verdicts) {
  return json_report("hierbar-mpi-barrier-bench-1", measurements, options,
                     {{"first", options.first}}, host, configurations, verdicts);
}

nlohmann::json json_report(const Measurements& measurements, const CollectiveBenchOptions& options,
                           const Host& host, const std::vector<MpiConfiguration>& configurations,
                           const std::vector<Verdict>& verdicts) {
  return json_report("hierbar-mpi-collective-bench-1", measurements, options,
                     {{"calls", options.calls}, {"bytes", options.sizes}}, host, configurations,
                     verdicts);
}

}  // namespace hierbar::bench::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/common/report/report_json.hpp"
#include "bench/common/report/report_text.hpp"
#include "bench/common/text.hpp"
#include "bench/runtimes/omp/bench.hpp"
#include "bench/runtimes/omp/constructs.hpp"

namespace hierbar::bench::omp {
namespace {

// The column of ratios holds the longest title, "to hyper-turnaround".
constexpr ColumnWidths kWidths{
    .name = 21, .median = 11, .quartiles = 24, .ratio = 19, .spread = 18};
constexpr int kOverviewWidth = 28;  // holds the longest title, "decode-regions, ns per graph"

std::string_view unit_of(const std::string& construct) {
  const auto known = std::find_if(kConstructs.begin(), kConstructs.end(),
                                  [&](const auto& entry) { return entry.name == construct; });
  return known == kConstructs.end() ? "ns" : known->unit;
}

std::string group_title(const Group& group) {
  return fmt::format("{}, {}: {}; {}; {}; {}", group.quantity, participants_text(group),
                     unit_of(group.quantity), group.bound ? "bound to cores" : "not bound",
                     regime_text(group), repetitions_text(group));
}

// "hier / best stock libomp (linear): 0.41 [0.39 .. 0.44]"
std::string comparison(const Group& group, const Series& ours, const std::string& label,
                       const Series* other) {
  const auto ratio = other == nullptr ? std::nullopt : ratio_of(group, ours, *other);
  if (!ratio) return "";
  return fmt::format("  {} / {} ({}): {} [{}]\n", ours.name, label, other->name,
                     ratio_cell(group, ratio), spread_text(*ratio));
}

// "hier-tool - hier: 61.2 ns [58.0 .. 66.1]"
std::string overhead(const Group& group, const Series& series, const Series& reference) {
  const auto difference = difference_of(group, series, reference);
  if (!difference) return "";
  return fmt::format("  {} - {}: {:.1f} ns [{:.1f} .. {:.1f}]\n", series.name, reference.name,
                     difference->value, difference->lowest, difference->highest);
}

// "12.5 (11.9 .. 13.0)": the share of synchronisation in percent, with its quartiles.
std::string sync_cell(const Group& group, const Series& series) {
  const auto share = sync_share_of(group, series);
  if (!share) return "-";
  return fmt::format("{:.1f} ({:.1f} .. {:.1f})", 100 * share->median, 100 * share->lower_quartile,
                     100 * share->upper_quartile);
}

// The columns that only a decode's table has.
std::string decode_columns(const std::string& ideal, const std::string& sync) {
  return fmt::format("{:>12}  {:>22}", ideal, sync);
}
std::string decode_cells(const Group& group, const Series& series) {
  if (!is_decode(group.quantity)) return "";
  const auto ideal = ideal_of(group, series);
  return decode_columns(ideal ? number(ideal->median) : "-", sync_cell(group, series));
}

std::string group_table(const Group& group, const OmpBenchOptions& options) {
  const Series* reference = find_series(group, options.reference);
  std::string text = group_title(group) + "\n";
  text += titles_row(kWidths, {.name = "",
                               .median = "median ns",
                               .ratio = "to " + options.reference,
                               .spread = "over repetitions"});
  if (is_decode(group.quantity)) text += decode_columns("ideal ns", "sync % (quartiles)");
  text += "\n";
  for (const Series& series : group.series)
    text += series_row(kWidths, group, series, reference, decode_cells(group, series));
  if (reference != nullptr) {
    text += comparison(group, *reference, "best stock libomp", best_of(group, Family::kStock));
    text += comparison(group, *reference, "libgomp", best_of(group, Family::kGnu));
    text += comparison(group, *reference, "floor", best_of(group, Family::kFloor));
    for (const Series& series : group.series)
      if (options.tools && series.family == Family::kOther)
        text += overhead(group, series, *reference);
  }
  return text + "\n";
}

std::string overview_cell(const Group& group, const std::string& name,
                          const OmpBenchOptions& options) {
  const auto found = std::find_if(group.series.begin(), group.series.end(),
                                  [&name](const Series& s) { return s.name == name; });
  if (found == group.series.end()) return "-";
  const auto summary = summary_of(group, *found);
  if (!found->failure.empty() || !summary) return "failed";
  const Series* reference = find_series(group, options.reference);
  const auto ratio = reference == nullptr ? std::nullopt : ratio_of(group, *found, *reference);
  const std::string median = number(summary->median);
  if (!ratio) return median;
  const std::string cell = ratio_cell(group, ratio);
  return fmt::format("{} {:>7}", median, *doubt_of(group, *ratio) == '\0' ? "x" + cell : cell);
}

// The rows of one construct's table: its configurations. The best floor gets a row of its own, so
// floors are left out here.
std::vector<std::string> overview_rows(const std::vector<const Group*>& groups) {
  std::vector<std::string> names;
  for (const Group* group : groups) {
    for (const Series& series : group->series) {
      const bool is_new = std::find(names.begin(), names.end(), series.name) == names.end();
      if (is_new && series.family != Family::kFloor) names.push_back(series.name);
    }
  }
  return names;
}

std::string overview_table(const std::vector<const Group*>& groups,
                           const OmpBenchOptions& options) {
  const std::string title =
      fmt::format("{}, {}", groups.front()->quantity, unit_of(groups.front()->quantity));
  std::string text = fmt::format("{:<{}}", title, kOverviewWidth);
  for (const Group* group : groups) text += fmt::format("{:>20}", participants_text(*group));
  text += "\n";
  for (const std::string& name : overview_rows(groups)) {
    text += fmt::format("  {:<{}}", name, kOverviewWidth - 2);
    for (const Group* group : groups)
      text += fmt::format("{:>20}", overview_cell(*group, name, options));
    text += "\n";
  }
  const bool has_floor = std::any_of(groups.begin(), groups.end(), [](const Group* g) {
    return best_of(*g, Family::kFloor) != nullptr;
  });
  if (!has_floor) return text + "\n";
  text += fmt::format("  {:<{}}", "physical floor", kOverviewWidth - 2);
  for (const Group* group : groups) {
    const Series* floor = best_of(*group, Family::kFloor);
    text +=
        fmt::format("{:>20}", floor == nullptr ? "-" : overview_cell(*group, floor->name, options));
  }
  return text + "\n\n";
}

// The share of synchronisation: a row for each configuration, a column for each team size.
std::string sync_table(const std::vector<const Group*>& groups) {
  std::string text =
      fmt::format("{:<{}}", fmt::format("{}, sync in %", groups.front()->quantity), kOverviewWidth);
  for (const Group* group : groups) text += fmt::format("{:>22}", participants_text(*group));
  text += "\n";
  for (const std::string& name : overview_rows(groups)) {
    text += fmt::format("  {:<{}}", name, kOverviewWidth - 2);
    for (const Group* group : groups) {
      const Series* series = find_series(*group, name);
      text += fmt::format("{:>22}", series == nullptr ? "-" : sync_cell(*group, *series));
    }
    text += "\n";
  }
  return text + "\n";
}

// Shows the three settings of one pattern as one.
void join_patterns(Variables& variables) {
  const auto pattern = variables.find("KMP_PLAIN_BARRIER_PATTERN");
  if (pattern == variables.end()) return;
  variables["KMP_{FORKJOIN,PLAIN,REDUCTION}_BARRIER_PATTERN"] = pattern->second;
  for (const char* const kind : {"PLAIN", "FORKJOIN", "REDUCTION"})
    variables.erase(fmt::format("KMP_{}_BARRIER_PATTERN", kind));
}

// The library is named only if it is another one than in the row before.
std::string configurations_text(const std::vector<OmpConfiguration>& configurations) {
  std::string text;
  std::string last_library;
  for (const OmpConfiguration& configuration : configurations) {
    text += fmt::format("  {:<{}}", configuration.name, kWidths.name);
    if (!configuration.unavailable.empty()) {
      text += fmt::format("not measured: {}\n", configuration.unavailable);
      continue;
    }
    Variables shown = configuration.variables;
    shown.erase("LD_LIBRARY_PATH");
    join_patterns(shown);
    if (configuration.library != last_library) {
      text += fmt::format("{} ({})", configuration.library, configuration.version);
    } else {
      text += shown.empty() ? "the same library" : "the same,";
    }
    last_library = configuration.library;
    text += fmt::format("{}{}\n", shown.empty() ? "" : " ", to_string(shown));
  }
  return text;
}

// The compilers that built the measured programs, each with its configurations.
std::string programs_text(const std::vector<OmpConfiguration>& configurations) {
  std::map<std::string, std::string> names;
  for (const OmpConfiguration& configuration : configurations) {
    if (!configuration.unavailable.empty()) continue;
    std::string& list = names[configuration.compiler];
    list += (list.empty() ? "" : ", ") + configuration.name;
  }
  std::string text;
  for (const auto& [compiler, list] : names)
    text += fmt::format("program    {}, {}: for {}\n", compiler, HIERBAR_BENCH_WORKER_FLAGS, list);
  return text;
}

}  // namespace

std::string header_text(const OmpBenchOptions& options, const Host& host,
                        const std::vector<OmpConfiguration>& configurations) {
  std::string text = machine_text(host) + programs_text(configurations);
  text += fmt::format(
      "measuring  {} of {:.0f} ms per process, work in front of a construct {:.0f} ns\n",
      counted(options.num_repetitions, "repetition"), options.budget_ms, options.delay_ns);
  text += fmt::format("binding    OMP_PLACES=cores OMP_PROC_BIND=close: {}\n",
                      options.binding == Binding::kAuto     ? "unless threads outnumber cpus"
                      : options.binding == Binding::kAlways ? "always"
                                                            : "never");
  return text + "configurations\n" + configurations_text(configurations) + "\n";
}

std::string tables_text(const Measurements& measurements, const OmpBenchOptions& options) {
  std::string text;
  if (!options.brief) {
    for (const Group& group : measurements.groups) text += group_table(group, options);
  }
  text += fmt::format("Overview: median ns and ratio to {}\n\n", options.reference);
  for (const ConstructName& construct : kConstructs) {
    std::vector<const Group*> groups;
    for (const Group& group : measurements.groups) {
      if (group.quantity == construct.name) groups.push_back(&group);
    }
    if (groups.empty()) continue;
    text += overview_table(groups, options);
    if (is_decode(construct.name)) text += sync_table(groups);
  }
  if (options.tools)
    text += fmt::format("Reading the tool's clock takes {:.1f} ns.\n", measurements.stamp_ns);
  return text;
}

nlohmann::json json_report(const Measurements& measurements, const OmpBenchOptions& options,
                           const Host& host, const std::vector<OmpConfiguration>& configurations,
                           const std::vector<Verdict>& verdicts) {
  JsonParts parts{.format = "hierbar-omp-barrier-bench-1",
                  .settings = {{"repetitions", options.num_repetitions},
                               {"budget_ms", options.budget_ms},
                               {"delay_ns", options.delay_ns},
                               {"operations", options.graph.num_operations},
                               {"seed", options.graph.seed},
                               {"graph_work_ns", graph_work_ns(options.graph)},
                               {"reference", options.reference},
                               {"passive", options.passive},
                               {"blocktime", or_null(options.blocktime)}},
                  .configurations = nlohmann::json::array(),
                  .quantity = "construct",
                  .reference = options.reference};
  for (const OmpConfiguration& configuration : configurations) {
    nlohmann::json entry = to_json(configuration);
    entry["program"] = configuration.worker;
    entry["compiler"] = configuration.compiler;
    entry["openmp"] = configuration.openmp;
    parts.configurations.push_back(std::move(entry));
  }
  nlohmann::json report = bench::json_report(parts, measurements, host, verdicts);
  if (options.tools) report["run"]["stamp_ns"] = measurements.stamp_ns;
  return report;
}

}  // namespace hierbar::bench::omp

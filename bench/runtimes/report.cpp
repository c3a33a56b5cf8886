// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/runtimes/report.hpp"

#include <fmt/format.h>

#include "bench/common/host.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/common/report/report_text.hpp"

namespace hierbar::bench {

std::string to_string(const Variables& variables) {
  std::string text;
  for (const auto& [name, value] : variables)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string machine_text(const Host& host) {
  return host_text(host) +
         fmt::format("bench      revision {}, built by {}\n", kRevision, HIERBAR_BENCH_COMPILER);
}

std::string titles_row(const ColumnWidths& widths, const ColumnTitles& titles) {
  return fmt::format("  {:<{}}{:>{}}  {:>{}}  {:>{}}  {:>{}}", titles.name, widths.name,
                     titles.median, widths.median, "quartiles", widths.quartiles, titles.ratio,
                     widths.ratio, titles.spread, widths.spread);
}

std::string series_row(const ColumnWidths& widths, const Group& group, const Series& series,
                       const Series* reference, const std::string& more) {
  const auto summary = summary_of(group, series);
  if (!series.failure.empty() || !summary) {
    return fmt::format("  {:<{}}failed: {}\n", series.name, widths.name,
                       series.failure.empty() ? "no samples" : series.failure);
  }
  const auto ratio = reference == nullptr ? std::nullopt : ratio_of(group, series, *reference);
  return fmt::format(
      "  {:<{}}{:>{}}  {:>{}}  {:>{}}  {:>{}}{}\n", series.name, widths.name,
      number(summary->median), widths.median,
      fmt::format("{} .. {}", number(summary->lower_quartile), number(summary->upper_quartile)),
      widths.quartiles, ratio_cell(group, ratio), widths.ratio, ratio ? spread_text(*ratio) : "-",
      widths.spread, more);
}

nlohmann::json to_json(const Configuration& configuration) {
  return {{"name", configuration.name},
          {"explains", configuration.explains},
          {"library", configuration.library},
          {"version", configuration.version},
          {"environment", configuration.variables},
          {"unavailable", or_null(configuration.unavailable)}};
}

nlohmann::json json_report(const JsonParts& parts, const Measurements& measurements,
                           const Host& host, const std::vector<Verdict>& verdicts) {
  nlohmann::json report{{"format", parts.format},
                        {"host", to_json(host)},
                        {"build",
                         {{"compiler", HIERBAR_BENCH_COMPILER},
                          {"revision", kRevision},
                          {"program_flags", HIERBAR_BENCH_WORKER_FLAGS}}},
                        {"settings", parts.settings},
                        {"run", run_json(measurements)},
                        {"configurations", parts.configurations}};
  report["groups"] = report["targets"] = nlohmann::json::array();
  for (const Group& group : measurements.groups)
    report["groups"].push_back(group_json(group, parts.quantity, parts.reference));
  for (const Verdict& verdict : verdicts) report["targets"].push_back(to_json(verdict));
  return report;
}

}  // namespace hierbar::bench

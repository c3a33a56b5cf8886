// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/chart.hpp"
#include "model/commands.hpp"

namespace hierbar::bench::model {
namespace {

using nlohmann::json;

struct PlotOptions {
  std::string report;
  std::string output;
};

std::string text_at(const json& report, const char* key) { return report.at(key).get<std::string>(); }

// The paper's table against the model: for each cell, both.
Chart chart_of_table(const json& report) {
  Chart chart;
  chart.title = "MPI_Barrier on " + text_at(report, "machine") + ": the model and the paper's measurements";
  chart.subtitle = fmt::format("mean error {:.1f} % where trained, {:.1f} % held out (numa, socket)",
                               report.at("train_mape_percent").get<double>(), report.at("heldout_mape_percent").get<double>());
  chart.unit = "us";
  chart.series = {{"model", {}}, {"paper", {}}};
  for (const json& cell : report.at("cells")) {
    chart.ticks.push_back(text_at(cell, "algorithm") + ", " + text_at(cell, "mapping"));
    chart.series[0].values.emplace_back(cell.at("model_us").get<double>());
    chart.series[1].values.emplace_back(cell.at("paper_us").get<double>());
  }
  return chart;
}

// Periods by algorithm and number of participants.
Chart chart_of_growth(const json& report) {
  Chart chart;
  chart.title = "Barriers on " + text_at(report, "machine") + ": time from one to the next";
  chart.subtitle = "simulated; medians over the parameter sets; map-by " + text_at(report, "map");
  chart.unit = "us";
  chart.lines = true;
  for (const json& row : report.at("rows")) {
    const std::string name = text_at(row, "name");
    const std::string tick = std::to_string(row.at("participants").get<std::uint32_t>());
    auto position = std::find(chart.ticks.begin(), chart.ticks.end(), tick) - chart.ticks.begin();
    if (static_cast<std::size_t>(position) == chart.ticks.size()) chart.ticks.push_back(tick);
    auto series = std::find_if(chart.series.begin(), chart.series.end(), [&](const Series& s) { return s.name == name; });
    if (series == chart.series.end()) series = chart.series.insert(series, Series{name, {}});
    series->values.resize(static_cast<std::size_t>(position) + 1);
    series->values.back() = row.at("period").at("median_ns").get<double>() / 1000;
  }
  return chart;
}

// Both metrics of every row.
Chart chart_of_rows(const json& report) {
  constexpr std::size_t kMostRows = 20;
  Chart chart;
  chart.title = "Barriers on " + text_at(report, "machine");
  chart.subtitle = "simulated; medians over the parameter sets; map-by " + text_at(report, "map");
  chart.unit = "us";
  chart.series = {{"period", {}}, {"isolated", {}}};
  for (const json& row : report.at("rows")) {
    if (chart.ticks.size() == kMostRows) break;
    chart.ticks.push_back(text_at(row, "name"));
    chart.series[0].values.emplace_back(row.at("period").at("median_ns").get<double>() / 1000);
    chart.series[1].values.emplace_back(row.at("isolated").at("median_ns").get<double>() / 1000);
  }
  return chart;
}

Chart chart_of(const json& report) {
  const std::string format = text_at(report, "format");
  if (format == "hierbar-model-table-1") return chart_of_table(report);
  if (format == "hierbar-model-scale-1") return chart_of_growth(report);
  if (format == "hierbar-model-compare-1" || format == "hierbar-model-design-1") return chart_of_rows(report);
  throw Refusal("REPORT: format '" + format + "'; allowed: what table, compare, scale and design write with --json");
}

void plot(const PlotOptions& options) {
  std::ifstream stream(options.report);
  if (!stream) throw Refusal("REPORT: '" + options.report + "' cannot be read");
  std::string svg;
  try {
    svg = to_svg(chart_of(json::parse(stream)));
  } catch (const json::exception& problem) {
    throw Refusal("REPORT: '" + options.report + "': " + problem.what());
  }
  std::ofstream output(options.output);
  if (!(output << svg << std::flush)) throw Refusal("--output: '" + options.output + "' cannot be written");
}

}  // namespace

void add_plot_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("plot", "Draw what table, compare, scale or design wrote with --json, as SVG");
  auto options = std::make_shared<PlotOptions>();
  command->add_option("REPORT", options->report, "The JSON file")->required()->type_name("FILE");
  command->add_option("--output", options->output, "The SVG file to write")->required()->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  barrier_model table --json table.json && barrier_model plot table.json --output table.svg\n"
      "  barrier_model scale --json growth.json && barrier_model plot growth.json --output growth.svg\n");
  command->callback([options] { plot(*options); });
}

}  // namespace hierbar::bench::model

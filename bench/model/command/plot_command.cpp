// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/new_file.hpp"
#include "bench/common/child_process.hpp"
#include "bench/model/command/chart.hpp"
#include "bench/model/command/commands.hpp"

namespace hierbar::bench::model {
namespace {

struct PlotOptions {
  std::string report;
  std::string output;
};

std::string text_at(const nlohmann::json& report, const char* key) { return report.at(key).get<std::string>(); }

// Shows the paper's table and the model: both for each cell.
Chart chart_of_table(const nlohmann::json& report) {
  Chart chart;
  chart.title = "MPI_Barrier on " + text_at(report, "machine") + ": the model and the paper's measurements";
  chart.subtitle = fmt::format("mean error {:.1f} % where trained, {:.1f} % held out (numa, socket)",
                               report.at("train_mape_percent").get<double>(), report.at("heldout_mape_percent").get<double>());
  chart.unit = "us";
  chart.series = {{"model", {}}, {"paper", {}}};
  for (const nlohmann::json& cell : report.at("cells")) {
    chart.ticks.push_back(text_at(cell, "algorithm") + ", " + text_at(cell, "mapping"));
    chart.series[0].values.emplace_back(cell.at("model_us").get<double>());
    chart.series[1].values.emplace_back(cell.at("paper_us").get<double>());
  }
  return chart;
}

// Shows periods by algorithm and number of participants.
Chart chart_of_growth(const nlohmann::json& report) {
  Chart chart;
  chart.title = "Barriers on " + text_at(report, "machine") + ": time from one to the next";
  chart.subtitle = "simulated; medians over the parameter sets; map-by " + text_at(report, "map");
  chart.unit = "us";
  chart.lines = true;
  for (const nlohmann::json& row : report.at("rows")) {
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

// Shows both metrics of every row.
Chart chart_of_rows(const nlohmann::json& report) {
  constexpr std::size_t kMostRows = 20;
  Chart chart;
  chart.title = "Barriers on " + text_at(report, "machine");
  chart.subtitle = "simulated; medians over the parameter sets; map-by " + text_at(report, "map");
  chart.unit = "us";
  chart.series = {{"period", {}}, {"isolated", {}}};
  for (const nlohmann::json& row : report.at("rows")) {
    if (chart.ticks.size() == kMostRows) break;
    chart.ticks.push_back(text_at(row, "name"));
    chart.series[0].values.emplace_back(row.at("period").at("median_ns").get<double>() / 1000);
    chart.series[1].values.emplace_back(row.at("isolated").at("median_ns").get<double>() / 1000);
  }
  return chart;
}

Chart chart_of(const nlohmann::json& report) {
  const std::string format = text_at(report, "format");
  if (format == "hierbar-model-table-1") return chart_of_table(report);
  if (format == "hierbar-model-scale-1") return chart_of_growth(report);
  if (format == "hierbar-model-compare-1" || format == "hierbar-model-design-1") return chart_of_rows(report);
  throw Refusal("REPORT: format '" + format + "'; allowed: what table, compare, scale and design write with --json");
}

void write_text(const std::string& text, const std::string& path) {
  if (const std::string problem = write_new_file(path, text); !problem.empty()) {
    throw Refusal("--output: '" + path + "': " + problem);
  }
}

// A file that is removed with this object.
class TemporaryFile {
 public:
  TemporaryFile() : path_(std::filesystem::temp_directory_path() / "barrier_model_XXXXXX") {
    const int file = mkstemp(path_.data());
    if (file < 0) throw Refusal("--output: no temporary file can be made beside '" + path_ + "'");
    close(file);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// librsvg's program draws the PNG, because it draws text as browsers do. SVG needs no such program.
void write_png(const std::string& svg, const std::string& path) {
  constexpr auto kTimeout = std::chrono::minutes(1);
  constexpr const char* kNotFound = "exit status 127";  // of env, if the program is missing
  const TemporaryFile picture;
  write_text(svg, picture.path());
  const ChildResult result =
      run_child({"/usr/bin/env", "rsvg-convert", "--format=png", "--zoom=2", picture.path()}, {}, kTimeout);
  if (result.failure.starts_with(kNotFound)) {
    throw Refusal("--output: '" + path + "': PNG is drawn by rsvg-convert, which was not found (Debian: librsvg2-bin); allowed " +
                  "without it: a file that does not end in .png, which becomes SVG");
  }
  if (!result.failure.empty()) throw Refusal("--output: '" + path + "': rsvg-convert: " + result.failure + ": " + result.errors);
  write_text(result.output, path);
}

void plot(const PlotOptions& options) {
  std::ifstream stream(options.report);
  if (!stream) throw Refusal("REPORT: '" + options.report + "' cannot be read");
  std::string svg;
  try {
    svg = to_svg(chart_of(nlohmann::json::parse(stream)));
  } catch (const nlohmann::json::exception& problem) {
    throw Refusal("REPORT: '" + options.report + "': " + problem.what());
  }
  if (options.output.ends_with(".png")) {
    write_png(svg, options.output);
  } else {
    write_text(svg, options.output);
  }
}

}  // namespace

void add_plot_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("plot", "Draw what table, compare, scale or design wrote with --json, as SVG or PNG");
  auto options = std::make_shared<PlotOptions>();
  command->add_option("REPORT", options->report, "The JSON file")->required()->type_name("FILE");
  command->add_option("--output", options->output, "The file to write: PNG if its name ends in .png,\nelse SVG")
      ->required()
      ->type_name("FILE");
  command->footer(
      "PNG needs the program rsvg-convert (Debian: librsvg2-bin).\n"
      "\n"
      "Examples:\n"
      "  barrier_model table --json table.json && barrier_model plot table.json --output table.svg\n"
      "  barrier_model scale --json growth.json && barrier_model plot growth.json --output growth.png\n");
  command->callback([options] { plot(*options); });
}

}  // namespace hierbar::bench::model

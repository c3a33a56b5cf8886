// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/host.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/region/region_trial.hpp"

namespace hierbar::bench::model {
namespace {

struct RegionCommandOptions {
  CommonOptions common;
  std::uint32_t num_threads = 128;
  std::uint32_t num_functions = 1;
  std::string home = "thread";
  bool check = false;
};

// What a lean region may take of the time of one with the best of libomp's patterns, in every
// parameter set, back to back and alone.
constexpr double kMostOfStock = 0.95;

struct Figure {
  const char* name;
  std::vector<double> RegionCosts::* values;
};
constexpr std::array<Figure, 4> kFigures = {{{"period", &RegionCosts::period},
                                             {"isolated", &RegionCosts::isolated},
                                             {"fork", &RegionCosts::fork},
                                             {"join", &RegionCosts::join}}};

Range ratio_of(const std::vector<RegionRow>& rows, RegionShape shape, const Figure& figure) {
  return range_of(ratios_to_stock(rows, shape, figure.values));
}

double most_ratio(const std::vector<RegionRow>& rows) {
  return std::max(ratio_of(rows, RegionShape::kLean, kFigures[0]).most,
                  ratio_of(rows, RegionShape::kLean, kFigures[1]).most);
}

std::string rows_text(const std::vector<RegionRow>& rows) {
  std::string text = fmt::format("{:<22}", "us");
  for (const Figure& figure : kFigures) text += fmt::format("{:>20}", figure.name);
  text += "\n";
  for (const RegionRow& row : rows) {
    text += fmt::format("{:<22}", row.named.name);
    for (const Figure& figure : kFigures)
      text += fmt::format("{:>20.2f}", range_of(row.costs.*figure.values).median / 1000);
    text += "\n";
  }
  for (const RegionRow& row : rows) {
    if (row.named.is_stock) continue;
    text += fmt::format("{:<22}", fmt::format("{} to best stock", row.named.name));
    for (const Figure& figure : kFigures) {
      const Range ratio = ratio_of(rows, row.named.shape, figure);
      text += fmt::format(
          "{:>20}", fmt::format("{:.2f} ({:.2f}..{:.2f})", ratio.median, ratio.least, ratio.most));
    }
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const RegionRow& row, const std::vector<RegionRow>& rows) {
  nlohmann::ordered_json json{{"name", row.named.name}, {"is_stock", row.named.is_stock}};
  for (const Figure& figure : kFigures) {
    const Range ratio = ratio_of(rows, row.named.shape, figure);
    json[figure.name] = model::to_json(range_of(row.costs.*figure.values));
    json[figure.name]["to_best_stock"] = {
        {"median", ratio.median}, {"least", ratio.least}, {"most", ratio.most}};
  }
  return json;
}

int region(const RegionCommandOptions& options) {
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  const RegionOptions trial{.num_functions = options.num_functions,
                            .is_local = options.home == "thread"};
  const std::vector<RegionRow> rows = require(compare_regions(
      machine, chosen_mapping(options.common), options.num_threads, options.common.seed, trial));
  const double ratio = most_ratio(rows);
  nlohmann::ordered_json report{
      {"format", "hierbar-model-region-1"}, {"revision", kRevision},
      {"machine", machine.title},           {"provenance", machine.provenance},
      {"map", options.common.mapping},      {"threads", options.num_threads},
      {"functions", options.num_functions}, {"home", options.home},
      {"seed", options.common.seed},        {"most_ratio", ratio},
      {"is_met", ratio <= kMostOfStock},    {"rows", nlohmann::ordered_json::array()}};
  for (const RegionRow& row : rows) report["rows"].push_back(to_json(row, rows));
  if (options.common.json_path != "-") {
    fmt::print("{}: regions of {} threads, map {}, {} parameter sets, seed {}\n{}\n\n{}\n",
               machine.title, options.num_threads, options.common.mapping, machine.sets.size(),
               options.common.seed, machine.provenance, rows_text(rows));
    fmt::print(
        "{:<7} a lean region takes {:.2f} of the best stock pattern's time at most, at most {}; "
        "every set, both metrics\n",
        ratio <= kMostOfStock ? "met" : "MISSED", ratio, kMostOfStock);
  }
  json.write(report);
  return options.check && ratio > kMostOfStock ? 1 : 0;
}

}  // namespace

void add_region_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "region", "Fork and join of parallel regions, ours beside unmodified libomp's patterns");
  auto options = std::make_shared<RegionCommandOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  command->add_option("--threads", options->num_threads, "Threads of the team")
      ->check(CLI::Range(2, 4096))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--functions", options->num_functions,
                   "So many regions take turns; with more than one, libomp's threads fetch "
                   "the\nfunction from the team")
      ->check(CLI::Range(1, 16))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--home", options->home,
                   "Whose memory a thread's lines are in: its own (thread), thread 0's (primary)")
      ->check(CLI::IsMember({"thread", "primary"}))
      ->type_name("WHOSE")
      ->capture_default_str();
  add_mapping_option(*command, options->common);
  refuse_short_n(*command, "--threads");
  add_run_options(*command, options->common);
  command->add_flag("--check", options->check,
                    "Judge the figures: return 1 when the target is missed");
  command->footer(
      "  lean          the region of KMP_BARRIER=hier that is like the one before: the function "
      "goes along with the release\n"
      "  lean_at_once  the same without passing the release on, as where threads outnumber cpus\n"
      "  engine        release and gather of the barrier of hierbar/barrier.h, without a function\n"
      "  hyper ...     unmodified libomp's patterns, with branch bits 2\n"
      "  period        empty regions back to back\n"
      "  isolated      one that all threads wait for, until thread 0 leaves: its fork, until the "
      "last thread has begun,\n"
      "                and its join, the rest\n"
      "Figures are medians over the parameter sets. What a thread does alone is not in them.\n"
      "\n"
      "Examples:\n"
      "  barrier_model region --check\n"
      "  barrier_model region --machine manycore --threads 1024\n");
  command->callback([options, &status] { status = region(*options); });
}

}  // namespace hierbar::bench::model

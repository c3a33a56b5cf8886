// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/report/json_output.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/machine/simulation_cost.hpp"
#include "bench/model/trial/compare.hpp"

namespace hierbar::bench::model {
namespace {

struct CompareOptions {
  CommonOptions common;
  std::uint32_t num_participants = 0;  // 0: one for each core
};

std::string range_text(const Range& range) {
  return fmt::format("{:>9.2f} {:>17}", range.median / 1000,
                     fmt::format("{:.2f} .. {:.2f}", range.least / 1000, range.most / 1000));
}

std::string rows_text(const std::vector<ComparedRow>& rows) {
  const ComparedRow& engine = *find_row(rows, Algorithm::kHier);
  std::string text = fmt::format("{:<26}{:>9} {:>17}{:>10} {:>17}  {:>18}\n", "us", "period", "least .. most", "isolated",
                                 "least .. most", "period to hier");
  for (const ComparedRow& row : rows) {
    const Range ratio = ratio_range(row.costs.period, engine.costs.period);
    text += fmt::format("{:<26}{} {}  {:>18}\n", row.name, range_text(range_of(row.costs.period)),
                        range_text(range_of(row.costs.isolated)),
                        fmt::format("{:.2f} ({:.2f}..{:.2f})", ratio.median, ratio.least, ratio.most));
  }
  return text;
}

std::uint32_t num_cores(const Machine& machine) {
  return static_cast<std::uint32_t>(machine.one_cpu_per_core(machine.allowed).count());
}

void compare(const CompareOptions& options) {
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  const Mapping mapping = chosen_mapping(options.common);
  const std::uint32_t count = options.num_participants != 0 ? options.num_participants : num_cores(machine.machine);
  const std::vector<ComparedRow> rows = require(compare_algorithms(machine, mapping, count, options.common.seed));
  if (options.common.json_path != "-") {
    fmt::print("{}: {} participants, map {}, {} parameter sets, seed {}\n{}\n\n{}\n{}\n", machine.title, count,
               options.common.mapping, machine.sets.size(), options.common.seed, machine.provenance, rows_text(rows),
               text_of(simulation_cost()));
  }
  nlohmann::ordered_json report = start_report("hierbar-model-compare-1", machine, options.common);
  report["simulation"] = to_json(simulation_cost());
  for (const ComparedRow& row : rows) report["rows"].push_back(to_json(row));
  json.write(report);
}

}  // namespace

void add_compare_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "Every algorithm on one simulated machine, by both metrics");
  auto options = std::make_shared<CompareOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  command->add_option("-n,--participants", options->num_participants, "How many; default: one for each core")
      ->check(CLI::Range(2, 4096))
      ->type_name("N");
  add_mapping_option(*command, options->common);
  add_run_options(*command, options->common);
  command->footer(
      "  period    barriers back to back: from one to the next\n"
      "  isolated  one barrier that all enter together: from the last entry to the last exit\n"
      "\n"
      "Figures are medians over the parameter sets with the least and the most of them. Of machines whose costs are\n"
      "borrowed believe the order of algorithms that are far apart, not the times.\n"
      "\n"
      "Examples:\n"
      "  barrier_model compare\n"
      "  barrier_model compare --machine milan -n 64\n"
      "  barrier_model compare --topology node17.xml --c2c node17.csv --json node17.json\n");
  command->callback([options] { compare(*options); });
}

}  // namespace hierbar::bench::model

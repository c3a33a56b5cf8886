// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/report/json_output.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/machine/simulation_cost.hpp"
#include "bench/model/paper/paper_table.hpp"

namespace hierbar::bench::model {
namespace {

struct TableOptions {
  CommonOptions common;
  bool check = false;
};

int show_table(const TableOptions& options) {
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  const PaperTable table = require(compute_paper_table(machine, options.common.seed));
  if (options.common.json_path != "-") fmt::print("{}\n{}\n", text_of(table, machine), text_of(simulation_cost()));
  nlohmann::ordered_json report = to_json(table, machine);
  report["simulation"] = to_json(simulation_cost());
  json.write(report);
  return options.check && !meets_targets(table) ? 1 : 0;
}

}  // namespace

void add_table_command(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("table", "The paper's tables beside the model's, with the errors and the gain of our plan");
  auto options = std::make_shared<TableOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  add_run_options(*command, options->common);
  command->add_flag("--check", options->check, "Return 1 when a target is missed");
  command->footer(
      "Everything is computed in this run, by the barriers' own code, from the parameter sets in the machine's file.\n"
      "\n"
      "  mean error   of the model's periods against the paper's; 20 of the 37 cells were held out of the training\n"
      "  null model   the map-by core column, copied: the error that a prediction of the held-out columns has to beat\n"
      "  gain         topo-NUMA's time over our plan's, in the same parameter set\n"
      "\n"
      "Examples:\n"
      "  barrier_model table\n"
      "  barrier_model table --json -\n");
  command->callback([options, &status] { status = show_table(*options); });
}

}  // namespace hierbar::bench::model

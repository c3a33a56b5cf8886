// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/report/report_json.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/trial/design.hpp"

namespace hierbar::bench::model {
namespace {

struct DesignOptions {
  CommonOptions common;
  std::uint32_t num_participants = 128;
  std::size_t num_shown = 15;
};

void print_row(const Candidate& candidate) {
  const Range period = range_of(candidate.costs.period);
  const Range isolated = range_of(candidate.costs.isolated);
  fmt::print("{:<34}{:>9.2f}{:>10.2f}{:>9.2f}\n", candidate.name, period.median / 1000,
             isolated.median / 1000, candidate.regret);
}

void design(const DesignOptions& options) {
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  const std::vector<Candidate> candidates = require(search_shapes(
      machine, chosen_mapping(options.common), options.num_participants, options.common.seed));
  if (options.common.json_path != "-") {
    fmt::print("{}: {} participants, map {}, {} shapes, {} parameter sets, seed {}\n{}\n\n",
               machine.title, options.num_participants, options.common.mapping,
               candidates.size() - 2, machine.sets.size(), options.common.seed, machine.provenance);
    fmt::print("{:<34}{:>9}{:>10}{:>9}\n", "us", "period", "isolated", "regret");
    for (std::size_t i = 0; i < std::min(candidates.size(), options.num_shown + 2); ++i)
      print_row(candidates[i]);
  }
  nlohmann::ordered_json report = start_report("hierbar-model-design-1", machine, options.common);
  report["participants"] = options.num_participants;
  for (const Candidate& candidate : candidates) {
    report["rows"].push_back({{"name", candidate.name},
                              {"regret", candidate.regret},
                              {"period", to_json(range_of(candidate.costs.period))},
                              {"isolated", to_json(range_of(candidate.costs.isolated))}});
  }
  json.write(report);
}

}  // namespace

void add_design_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("design", "Search the shapes that a plan could have on a machine");
  auto options = std::make_shared<DesignOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  command->add_option("--participants", options->num_participants, "Participants of the barrier")
      ->check(CLI::Range(2, 1024))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--show", options->num_shown, "How many shapes the table has")
      ->type_name("N")
      ->capture_default_str();
  add_mapping_option(*command, options->common);
  refuse_short_n(*command, "--participants");
  add_run_options(*command, options->common);
  command->footer(
      "A shape is written from the leaves up: `4x8, 4 leaders, flags` gathers groups of 4, then 8 "
      "of their leaders, and 4\n"
      "leaders exchange. Its regret is how many times slower it is than the best one, in the "
      "parameter set and by the\n"
      "metric where that is most; shapes whose regrets differ by less than a quarter cannot be "
      "told apart.\n"
      "\n"
      "Examples:\n"
      "  barrier_model design\n"
      "  barrier_model design --machine rome --participants 128\n");
  command->callback([options] { design(*options); });
}

}  // namespace hierbar::bench::model

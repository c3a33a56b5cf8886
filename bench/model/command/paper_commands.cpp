// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "bench/common/progress.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/machine/simulation_cost.hpp"
#include "bench/model/paper/fit.hpp"
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
  if (options.common.json_path != "-")
    fmt::print("{}\n{}\n", text_of(table, machine), text_of(simulation_cost()));
  nlohmann::ordered_json report = to_json(table, machine);
  report["simulation"] = to_json(simulation_cost());
  json.write(report);
  return options.check && !meets_targets(table) ? 1 : 0;
}

}  // namespace

void add_table_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "table", "The paper's tables beside the model's, with the errors and the gain of our plan");
  auto options = std::make_shared<TableOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  add_run_options(*command, options->common);
  command->add_flag("--check", options->check, "Return 1 when a target is missed");
  command->footer(
      "Everything is computed in this run, by the barriers' own code, from the parameter sets in "
      "the machine's file.\n"
      "\n"
      "  mean error   of the model's periods against the paper's; 20 of the 37 cells were held out "
      "of the training\n"
      "  null model   the map-by core column, copied: the error that a prediction of the held-out "
      "columns has to beat\n"
      "  gain         topo-NUMA's time over our plan's, in the same parameter set\n"
      "\n"
      "Examples:\n"
      "  barrier_model table\n"
      "  barrier_model table --json -\n");
  command->callback([options, &status] { status = show_table(*options); });
}

namespace {

constexpr const char* kParametersProvenance =
    "Differential evolution over MPI_Barrier's published times in M. G. Kurnosov, Vestnik SibGUTI "
    "16(2), 2022: the mean of "
    "|model / paper - 1| over the training cells (64 cores, and 128 cores map-by core: 17; without "
    "topo: 14). Pinned sets keep "
    "the "
    "published latencies within 15 %. Made by 'barrier_model calibrate'; the held-out cells were "
    "not looked at";

struct CalibrateOptions {
  std::string output;
  std::vector<std::string> only;
  std::uint32_t num_generations = 80;
};

struct PlannedSet {
  const char* name;
  const char* trained_on;
  Freedom freedom;
  ReadQueue queue;
  std::uint64_t seed;
};
constexpr PlannedSet kEnsemble[] = {
    {"pinned-domain-1", kTraining, Freedom::kPinned, ReadQueue::kPerDomain, 1},
    {"pinned-domain-2", kTraining, Freedom::kPinned, ReadQueue::kPerDomain, 2},
    {"pinned-domain-3", kTraining, Freedom::kPinned, ReadQueue::kPerDomain, 3},
    {"free-domain-1", kTraining, Freedom::kFree, ReadQueue::kPerDomain, 1},
    {"free-domain-2", kTraining, Freedom::kFree, ReadQueue::kPerDomain, 2},
    {"pinned-global-1", kTraining, Freedom::kPinned, ReadQueue::kGlobal, 1},
    {"pinned-global-2", kTraining, Freedom::kPinned, ReadQueue::kGlobal, 2},
    {"free-global-1", kTraining, Freedom::kFree, ReadQueue::kGlobal, 1},
    {"free-global-2", kTraining, Freedom::kFree, ReadQueue::kGlobal, 2},
    {"no-topo-1", kTrainingWithoutTopo, Freedom::kPinned, ReadQueue::kPerDomain, 1},
    {"no-topo-2", kTrainingWithoutTopo, Freedom::kPinned, ReadQueue::kPerDomain, 2},
};

std::vector<Cell> cells_of(const PlannedSet& planned) {
  std::vector<Cell> cells;
  for (const Cell& cell : paper_cells()) {
    if (is_training(cell) &&
        !(is_topo(cell) && std::string(planned.trained_on) == kTrainingWithoutTopo))
      cells.push_back(cell);
  }
  return cells;
}

ParameterSet calibrate_set(const ModelMachine& machine, const PlannedSet& planned,
                           const CalibrateOptions& options, Progress& progress) {
  PaperTrials trials = require(PaperTrials::make(machine.machine, cells_of(planned)));
  FitOptions fit_options;
  for (std::size_t i = 0; i < kNumDistances; ++i) {
    if (!machine.published[i]) continue;
    fit_options.start.latency[i] = *machine.published[i];
    fit_options.published.insert(static_cast<Distance>(i));
  }
  fit_options.start.read_queue = planned.queue;
  fit_options.freedom = planned.freedom;
  fit_options.seed = planned.seed;
  fit_options.num_generations = options.num_generations;
  const Fit best = fit(trials, fit_options, [&](std::uint32_t generation, double error) {
    progress.block(planned.name,
                   fmt::format("generation {}, mean error {:.1f} %", generation, 100 * error));
  });
  return {planned.name,
          planned.trained_on,
          planned.seed,
          options.num_generations,
          planned.freedom == Freedom::kPinned,
          best.parameters};
}

bool is_wanted(const PlannedSet& planned, const std::vector<std::string>& only) {
  return only.empty() || std::find(only.begin(), only.end(), planned.name) != only.end();
}

void calibrate(const CalibrateOptions& options) {
  NewFile output(options.output);  // begun now, so that a bad path does not cost minutes of fitting
  const auto refuse_if = [&options](const std::string& problem) {
    if (!problem.empty()) throw Refusal("--output: '" + options.output + "': " + problem);
  };
  refuse_if(output.problem());
  const ModelMachine machine = require(load_model_machine(kCalibratedMachine));
  nlohmann::ordered_json file = machine_header(machine);
  file["parameters_provenance"] = kParametersProvenance;
  file["parameter_sets"] = nlohmann::ordered_json::array();
  std::size_t num_wanted = 0;
  for (const PlannedSet& planned : kEnsemble)
    num_wanted += is_wanted(planned, options.only) ? 1U : 0U;
  Progress progress(num_wanted * options.num_generations);
  for (const PlannedSet& planned : kEnsemble) {
    if (!is_wanted(planned, options.only)) continue;
    file["parameter_sets"].push_back(to_json(calibrate_set(machine, planned, options, progress)));
  }
  progress.finish();
  refuse_if(output.finish(file.dump(2) + '\n'));
}

}  // namespace

void add_calibrate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Fit the parameter sets of the paper's machine to its measurements anew");
  auto options = std::make_shared<CalibrateOptions>();
  std::vector<std::string> names;
  for (const PlannedSet& planned : kEnsemble) names.emplace_back(planned.name);
  command->add_option("--output", options->output, "The machine file to write")
      ->required()
      ->type_name("FILE");
  command->add_option("--sets", options->only, "Only these parameter sets; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->type_name("NAME,...");
  command->add_option("--generations", options->num_generations, "Of the search, for each set")
      ->check(CLI::Range(1, 10000))
      ->type_name("N")
      ->capture_default_str();
  command->footer(
      "Trained on the columns for 64 cores and map-by core, 17 cells; map-by numa and map-by "
      "socket, 20 cells, are held out.\n"
      "Two sets do without the paper's own algorithm. Sets of one kind differ by the seed of the "
      "search: where they differ in\n"
      "a figure, the measurements do not settle it. Equal options give equal files.\n"
      "\n"
      "Examples:\n"
      "  barrier_model calibrate --output kunpeng920.json                (some 10 minutes)\n"
      "  barrier_model calibrate --output try.json --sets pinned-domain-1 --generations 20\n"
      "  barrier_model table --machine ./try.json\n");
  command->callback([options] { calibrate(*options); });
}

}  // namespace hierbar::bench::model

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/files.hpp"
#include "bench/common/progress.hpp"
#include "bench/common/random.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/machine/simulation_cost.hpp"
#include "bench/model/paper/paper.hpp"
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
  command->add_flag("--check", options->check,
                    "Judge the figures: return 1 when a target is missed");
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

// ---- calibrate: the search ----

// How freely calibration chooses latencies.
enum class Freedom : std::uint8_t {
  kFree,    // all in their wide ranges
  kPinned,  // latencies published for the machine stay within kPinnedSlack
};
inline constexpr double kPinnedSlack = 0.15;

struct FitOptions {
  Parameters start;  // the published latencies, and the kind of read queue
  Freedom freedom = Freedom::kPinned;
  std::set<Distance> published;  // the latencies that kPinned keeps
  std::uint32_t num_generations = 80;
  std::uint64_t seed = 1;
};

struct Fit {
  Parameters parameters;
  double mean_error = 0;  // mean of |model / paper - 1| over the cells
};

constexpr std::size_t kNumCandidates = 36;
constexpr Episodes kEpisodes{.warm_up = 2, .measured = 5};
constexpr double kCrossover = 0.8;
// The same for all simulated runs, so that the error depends on the parameters only.
constexpr std::uint64_t kRunSeed = 1;

struct SearchRange {
  const ParameterInfo* info;
  double lowest;
  double highest;
};

std::vector<SearchRange> ranges_of(const FitOptions& options) {
  std::vector<SearchRange> ranges;
  for (const ParameterInfo& info : parameter_infos()) {
    // The paper binds one process to a core.
    if (info.value == nullptr && info.distance == Distance::kCore) continue;
    SearchRange range{&info, info.lowest, info.highest};
    if (info.value == nullptr && options.freedom == Freedom::kPinned &&
        options.published.contains(info.distance)) {
      const double published = value_of(options.start, info);
      range.lowest = published * (1 - kPinnedSlack);
      range.highest = published * (1 + kPinnedSlack);
    }
    ranges.push_back(range);
  }
  return ranges;
}

// Positions in the ranges, each from 0 to 1.
using Point = std::vector<double>;

class Search {
 public:
  Search(PaperTrials& trials, const FitOptions& options)
      : trials_(trials), options_(options), ranges_(ranges_of(options)), random_(options.seed) {}

  Fit run(const std::function<void(std::uint32_t, double)>& progress) {
    for (std::size_t i = 0; i < kNumCandidates; ++i) {
      Point point(ranges_.size());
      for (double& position : point) position = uniform();
      errors_.push_back(error(point, std::numeric_limits<double>::infinity()));
      points_.push_back(std::move(point));
    }
    for (std::uint32_t generation = 1; generation <= options_.num_generations; ++generation) {
      for (std::size_t i = 0; i < kNumCandidates; ++i) improve(i);
      progress(generation, errors_[best()]);
    }
    return {parameters_at(points_[best()]), errors_[best()]};
  }

 private:
  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
  std::size_t best() const {
    return static_cast<std::size_t>(std::min_element(errors_.begin(), errors_.end()) -
                                    errors_.begin());
  }

  // Tries a mixture of this candidate, a good one and two others. Keeps the better of the two.
  void improve(std::size_t i) {
    const Point& self = points_[i];
    const Point& good = points_[one_of_the_best()];
    const Point& one = points_[random_.below(kNumCandidates)];
    const Point& other = points_[random_.below(kNumCandidates)];
    const double step = 0.4 + 0.4 * uniform();
    const std::size_t certain = random_.below(static_cast<std::uint32_t>(self.size()));
    Point tried = self;
    for (std::size_t k = 0; k < tried.size(); ++k) {
      if (k != certain && uniform() > kCrossover) continue;
      tried[k] = reflect(self[k] + step * (good[k] - self[k]) + step * (one[k] - other[k]));
    }
    const double tried_error = error(tried, errors_[i]);
    if (tried_error > errors_[i]) return;
    errors_[i] = tried_error;
    points_[i] = std::move(tried);
  }

  std::size_t one_of_the_best() {
    std::vector<std::size_t> order(kNumCandidates);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    constexpr std::size_t kNumBest = kNumCandidates / 6;
    std::partial_sort(order.begin(), order.begin() + kNumBest, order.end(),
                      [this](std::size_t a, std::size_t b) { return errors_[a] < errors_[b]; });
    return order[random_.below(kNumBest)];
  }

  static double reflect(double position) {
    if (position < 0) position = -position;
    if (position > 1) position = 2 - position;
    return std::clamp(position, 0.0, 1.0);
  }

  Parameters parameters_at(const Point& point) const {
    Parameters parameters = options_.start;
    for (std::size_t k = 0; k < point.size(); ++k) {
      const SearchRange& range = ranges_[k];
      value_of(parameters, *range.info) = range.lowest + point[k] * (range.highest - range.lowest);
    }
    return parameters;
  }

  // Stops as soon as the error is above `bound`.
  double error(const Point& point, double bound) {
    const Parameters parameters = parameters_at(point);
    double sum = 0;
    const auto count = static_cast<double>(trials_.size());
    for (std::size_t i = 0; i < trials_.size() && sum <= bound * count; ++i) {
      const Result<double> us = trials_.run(i, parameters, kRunSeed, kEpisodes);
      sum += us.ok() ? std::abs(*us / paper_us(trials_.cells()[i]) - 1) : 10.0;
    }
    return sum / count;
  }

  PaperTrials& trials_;
  const FitOptions& options_;
  std::vector<SearchRange> ranges_;
  test::Random random_;
  std::vector<Point> points_;
  std::vector<double> errors_;
};

// Searches the parameters with which the trials' periods are nearest to the paper's, by
// differential evolution (R. Storn, K. Price, J. Global Optimization 11, 1997). After each
// generation `progress` gets the number of generations done, and the best error.
Fit fit(PaperTrials& trials, const FitOptions& options,
        const std::function<void(std::uint32_t, double)>& progress) {
  return Search(trials, options).run(progress);
}

// ---- calibrate: the command ----

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

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/paper/paper_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/common/statistics.hpp"
#include "bench/model/paper/fit_quality.hpp"
#include "bench/model/paper/paper_trials.hpp"

namespace hierbar::bench::model {
namespace {

constexpr Column kMappings[] = {Column::kCore, Column::kNuma, Column::kSocket};

// The figures of the cells that `wanted` accepts.
template <class Wanted>
std::vector<double> select(const std::vector<Cell>& cells, const std::vector<double>& figures, Wanted&& wanted) {
  std::vector<double> result;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (wanted(cells[i])) result.push_back(figures[i]);
  }
  return result;
}

std::vector<double> paper_figures(const std::vector<Cell>& cells) {
  std::vector<double> result;
  for (const Cell& cell : cells) result.push_back(paper_us(cell));
  return result;
}

template <class Wanted>
double error_over(const std::vector<Cell>& cells, const std::vector<double>& us, Wanted&& wanted) {
  return mean_error_percent(select(cells, us, wanted), select(cells, paper_figures(cells), wanted));
}

bool is_held_out(const Cell& cell) { return !is_training(cell); }

// Predictions by cell: the median over the sets that were trained on `trained_on`.
std::vector<double> median_of_sets(const PaperTable& table, const std::string& trained_on) {
  std::vector<double> result;
  for (std::size_t cell = 0; cell < table.cells.size(); ++cell) {
    std::vector<double> predictions;
    for (const PaperTable::SetResult& set : table.sets) {
      if (set.trained_on == trained_on) predictions.push_back(set.us[cell]);
    }
    result.push_back(median(predictions).value_or(0));
  }
  return result;
}

void judge_columns(PaperTable& table) {
  const std::vector<double> paper = paper_figures(table.cells);
  for (std::size_t c = 0; c < kNumColumns; ++c) {
    const auto in_column = [c](const Cell& cell) { return static_cast<std::size_t>(cell.column) == c; };
    const std::vector<double> model = select(table.cells, table.us, in_column);
    const std::vector<double> real = select(table.cells, paper, in_column);
    table.spearman[c] = spearman(model, real);
    table.pairs[c] = order_of_pairs(model, real);
    double fastest = 0;
    for (std::size_t i = 0; i < table.cells.size(); ++i) {
      if (!in_column(table.cells[i]) || (fastest != 0 && table.us[i] >= fastest)) continue;
      fastest = table.us[i];
      table.best[c] = paper_rows()[table.cells[i].row].name;
    }
  }
}

void judge_null_model(PaperTable& table) {
  std::vector<double> copied;
  for (const Cell& cell : table.cells) copied.push_back(paper_us(Cell{cell.row, Column::kCore}));
  for (const Column column : {Column::kNuma, Column::kSocket}) {
    table.null_percent[static_cast<std::size_t>(column)] =
        error_over(table.cells, copied, [column](const Cell& cell) { return cell.column == column; });
  }
  table.null_heldout_percent = error_over(table.cells, copied, is_held_out);
}

void judge_without_topo(PaperTable& table) {
  const std::vector<double> us = median_of_sets(table, kTrainingWithoutTopo);
  table.without_topo.num_sets = static_cast<std::size_t>(std::count_if(
      table.sets.begin(), table.sets.end(), [](const auto& set) { return set.trained_on == kTrainingWithoutTopo; }));
  if (table.without_topo.num_sets == 0) return;
  const auto at = [&](std::string_view name, Column column) {
    for (std::size_t i = 0; i < table.cells.size(); ++i) {
      if (table.cells[i].column == column && paper_rows()[table.cells[i].row].name == name) return us[i];
    }
    return 0.0;
  };
  for (std::size_t i = 0; i < table.cells.size(); ++i) {
    if (!is_topo(table.cells[i])) continue;
    const double error = 100 * std::abs(us[i] / paper_us(table.cells[i]) - 1);
    table.without_topo.worst_percent = std::max(table.without_topo.worst_percent, error);
  }
  table.without_topo.right_order = std::all_of(std::begin(kMappings), std::end(kMappings), [&](Column column) {
    return at("topo-NUMA", column) < at("topo-NUMA-SOCKET", column) && at("topo-NUMA-SOCKET", column) < at("topo-SOCKET", column);
  });
}

Result<double> run_ns(Scenario& scenario, Algorithm algorithm, EnginePlan plan, const Parameters& parameters, Metric metric,
                      std::uint64_t seed) {
  Trial trial = scenario.trial(algorithm, std::move(plan));
  return trial.run(scenario.simulator(), parameters, metric, seed);
}

// Compares the engine with topo-NUMA in one parameter set, for all mappings and by both metrics.
Result<PaperTable::Gain> compute_gain(PaperTrials& trials, const ParameterSet& set, std::uint64_t seed,
                                      std::vector<double>& all_gains) {
  PaperTable::Gain gain{.set = set.name};
  std::vector<double> engine_periods;
  for (const Metric metric : {Metric::kPeriod, Metric::kIsolated}) {
    double& least = metric == Metric::kPeriod ? gain.period : gain.isolated;
    for (const Column column : kMappings) {
      Scenario& scenario = trials.scenario(column);
      Result<EnginePlan> groups = scenario.group_plan({Level::kNuma});
      if (!groups) return Error{groups.error()};
      const Result<double> topo = run_ns(scenario, Algorithm::kTopo, *std::move(groups), set.parameters, metric, seed);
      const Result<double> engine = run_ns(scenario, Algorithm::kHier, scenario.engine_plan(), set.parameters, metric, seed);
      if (!topo || !engine) return Error{topo ? engine.error() : topo.error()};
      all_gains.push_back(*topo / *engine);
      least = least == 0 ? all_gains.back() : std::min(least, all_gains.back());
      if (metric == Metric::kPeriod) engine_periods.push_back(*engine);
    }
  }
  gain.variation_percent = variation_percent(engine_periods);
  return gain;
}

}  // namespace

Result<PaperTable> compute_paper_table(const ModelMachine& machine, std::uint64_t seed) {
  Result<PaperTrials> trials = PaperTrials::make(machine.machine, paper_cells());
  if (!trials) return Error{machine.title + " cannot hold the paper's measurements: " + trials.error()};
  PaperTable table;
  table.seed = seed;
  table.cells = trials->cells();
  for (const ParameterSet& set : machine.sets) {
    Result<std::vector<double>> us = trials->run_all(set.parameters, seed);
    if (!us) return Error{us.error()};
    table.sets.push_back(
        {set.name, set.trained_on, *us, error_over(table.cells, *us, is_training), error_over(table.cells, *us, is_held_out)});
    const Result<PaperTable::Gain> gain = compute_gain(*trials, set, seed, table.all_gains);
    if (!gain) return Error{gain.error()};
    table.gains.push_back(*gain);
  }
  table.us = median_of_sets(table, kTraining);
  table.train_percent = error_over(table.cells, table.us, is_training);
  table.heldout_percent = error_over(table.cells, table.us, is_held_out);
  judge_columns(table);
  judge_null_model(table);
  judge_without_topo(table);
  return table;
}

}  // namespace hierbar::bench::model

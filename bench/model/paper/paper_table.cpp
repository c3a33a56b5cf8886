// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/paper/paper_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/common/host.hpp"
#include "bench/common/statistics.hpp"
#include "bench/model/paper/paper.hpp"

namespace hierbar::bench::model {
namespace {

constexpr Column kMappings[] = {Column::kCore, Column::kNuma, Column::kSocket};

// The figures of the cells that `wanted` accepts.
template <class Wanted>
std::vector<double> select(const std::vector<Cell>& cells, const std::vector<double>& figures,
                           Wanted&& wanted) {
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
    const auto in_column = [c](const Cell& cell) {
      return static_cast<std::size_t>(cell.column) == c;
    };
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
    table.null_percent[static_cast<std::size_t>(column)] = error_over(
        table.cells, copied, [column](const Cell& cell) { return cell.column == column; });
  }
  table.null_heldout_percent = error_over(table.cells, copied, is_held_out);
}

void judge_without_topo(PaperTable& table) {
  const std::vector<double> us = median_of_sets(table, kTrainingWithoutTopo);
  table.without_topo.num_sets = static_cast<std::size_t>(
      std::count_if(table.sets.begin(), table.sets.end(),
                    [](const auto& set) { return set.trained_on == kTrainingWithoutTopo; }));
  if (table.without_topo.num_sets == 0) return;
  const auto at = [&](std::string_view name, Column column) {
    for (std::size_t i = 0; i < table.cells.size(); ++i) {
      if (table.cells[i].column == column && paper_rows()[table.cells[i].row].name == name)
        return us[i];
    }
    return 0.0;
  };
  for (std::size_t i = 0; i < table.cells.size(); ++i) {
    if (!is_topo(table.cells[i])) continue;
    const double error = 100 * std::abs(us[i] / paper_us(table.cells[i]) - 1);
    table.without_topo.worst_percent = std::max(table.without_topo.worst_percent, error);
  }
  table.without_topo.right_order =
      std::all_of(std::begin(kMappings), std::end(kMappings), [&](Column column) {
        return at("topo-NUMA", column) < at("topo-NUMA-SOCKET", column) &&
               at("topo-NUMA-SOCKET", column) < at("topo-SOCKET", column);
      });
}

Result<double> run_ns(Scenario& scenario, Algorithm algorithm, EnginePlan plan,
                      const Parameters& parameters, Metric metric, std::uint64_t seed) {
  Trial trial = scenario.trial(algorithm, std::move(plan));
  return trial.run(scenario.simulator(), parameters, metric, seed);
}

// Compares the engine with topo-NUMA in one parameter set, for all mappings and by both metrics.
Result<PaperTable::Gain> compute_gain(PaperTrials& trials, const ParameterSet& set,
                                      std::uint64_t seed, std::vector<double>& all_gains) {
  PaperTable::Gain gain{.set = set.name};
  std::vector<double> engine_periods;
  for (const Metric metric : {Metric::kPeriod, Metric::kIsolated}) {
    double& least = metric == Metric::kPeriod ? gain.period : gain.isolated;
    for (const Column column : kMappings) {
      Scenario& scenario = trials.scenario(column);
      Result<EnginePlan> groups = scenario.group_plan({Level::kNuma});
      if (!groups) return Error{groups.error()};
      const Result<double> topo =
          run_ns(scenario, Algorithm::kTopo, *std::move(groups), set.parameters, metric, seed);
      const Result<double> engine =
          run_ns(scenario, Algorithm::kHier, scenario.engine_plan(), set.parameters, metric, seed);
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
  if (!trials)
    return Error{machine.title + " cannot hold the paper's measurements: " + trials.error()};
  PaperTable table;
  table.seed = seed;
  table.cells = trials->cells();
  for (const ParameterSet& set : machine.sets) {
    Result<std::vector<double>> us = trials->run_all(set.parameters, seed);
    if (!us) return Error{us.error()};
    table.sets.push_back({set.name, set.trained_on, *us, error_over(table.cells, *us, is_training),
                          error_over(table.cells, *us, is_held_out)});
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

namespace {

using nlohmann::ordered_json;

double least_gain(const PaperTable& table) {
  return *std::min_element(table.all_gains.begin(), table.all_gains.end());
}
double median_gain(const PaperTable& table) { return median(table.all_gains).value_or(0); }
double worst_variation(const PaperTable& table) {
  double worst = 0;
  for (const PaperTable::Gain& gain : table.gains) worst = std::max(worst, gain.variation_percent);
  return worst;
}

const double* figure_at(const PaperTable& table, std::size_t row, std::size_t column) {
  for (std::size_t i = 0; i < table.cells.size(); ++i) {
    if (table.cells[i].row == row && static_cast<std::size_t>(table.cells[i].column) == column)
      return &table.us[i];
  }
  return nullptr;
}

std::string cells_text(const PaperTable& table) {
  std::string text = fmt::format("{:<26}", "us: model | paper");
  for (const std::string_view column : kColumnNames) text += fmt::format("{:>19}", column);
  text += "\n";
  for (std::size_t row = 0; row < paper_rows().size(); ++row) {
    text += fmt::format("{:<26}", paper_rows()[row].name);
    for (std::size_t column = 0; column < kNumColumns; ++column) {
      const double* us = figure_at(table, row, column);
      text += us == nullptr ? fmt::format("{:>19}", "-")
                            : fmt::format("{:>10.2f} |{:>7.2f}", *us, paper_rows()[row].us[column]);
    }
    text += "\n";
  }
  const auto line = [&](std::string_view name, auto&& value) {
    text += fmt::format("{:<26}", name);
    for (std::size_t column = 0; column < kNumColumns; ++column)
      text += fmt::format("{:>19}", value(column));
    text += "\n";
  };
  line("fastest in the model", [&](std::size_t c) { return table.best[c]; });
  line("Spearman", [&](std::size_t c) { return fmt::format("{:.2f}", table.spearman[c]); });
  line("pairs in order", [&](std::size_t c) {
    return fmt::format("{} of {}", table.pairs[c].right, table.pairs[c].count);
  });
  return text;
}

// A target of the model in words, and whether it is met.
struct Target {
  std::string text;
  bool is_met;
};

std::vector<Target> targets_of(const PaperTable& table) {
  const auto at = [](const auto& by_column, Column column) {
    return by_column[static_cast<std::size_t>(column)];
  };
  const double core = at(table.spearman, Column::kCore);
  const double numa = at(table.spearman, Column::kNuma);
  const double socket = at(table.spearman, Column::kSocket);
  std::vector<Target> targets{
      {fmt::format("mean error of the cells trained on: {:.1f} %, at most 9", table.train_percent),
       table.train_percent <= 9},
      {fmt::format("mean error of the held-out cells: {:.1f} %, at most 15; copying map-by core: "
                   "{:.1f} % (numa {:.1f}, socket {:.1f})",
                   table.heldout_percent, table.null_heldout_percent,
                   at(table.null_percent, Column::kNuma), at(table.null_percent, Column::kSocket)),
       table.heldout_percent <= 15},
      {fmt::format("Spearman core, numa, socket: {:.2f} {:.2f} {:.2f}, at least 0.90 0.73 0.50",
                   core, numa, socket),
       core >= 0.9 && numa >= 0.73 && socket >= 0.5},
      {"topo-NUMA the fastest of the ten in both held-out columns",
       at(table.best, Column::kNuma) == "topo-NUMA" &&
           at(table.best, Column::kSocket) == "topo-NUMA"},
      {fmt::format("trained without topo: its cells within {:.0f} %, at most 35",
                   table.without_topo.worst_percent),
       table.without_topo.num_sets > 0 && table.without_topo.worst_percent <= 35},
      {"trained without topo: NUMA < NUMA-SOCKET < SOCKET in all columns",
       table.without_topo.right_order},
      {fmt::format("our plan against topo-NUMA: {:.2f} x faster at least, at least 1.3; {} sets, "
                   "both metrics, all mappings",
                   least_gain(table), table.gains.size()),
       least_gain(table) >= 1.3 && table.gains.size() >= 10},
      {fmt::format("our plan against topo-NUMA: {:.2f} x faster in the median, at least 1.8",
                   median_gain(table)),
       median_gain(table) >= 1.8},
      {fmt::format("our plan over the mappings: varies by {:.1f} %, at most 3",
                   worst_variation(table)),
       worst_variation(table) <= 3},
  };
  return targets;
}

std::string targets_text(const PaperTable& table) {
  std::string text;
  for (const Target& target : targets_of(table))
    text += fmt::format("{:<7} {}\n", target.is_met ? "met" : "MISSED", target.text);
  return text;
}

std::string sets_text(const PaperTable& table) {
  std::string text =
      fmt::format("{:<18}{:>22}{:>9}{:>10}{:>12}{:>12}{:>12}\n", "parameter set", "trained on",
                  "train %", "held out", "gain period", "isolated", "variation %");
  for (std::size_t i = 0; i < table.sets.size(); ++i) {
    const PaperTable::SetResult& set = table.sets[i];
    const PaperTable::Gain& gain = table.gains[i];
    text += fmt::format("{:<18}{:>22}{:>9.1f}{:>10.1f}{:>12.2f}{:>12.2f}{:>12.1f}\n", set.name,
                        set.trained_on, set.train_percent, set.heldout_percent, gain.period,
                        gain.isolated, gain.variation_percent);
  }
  return text;
}

ordered_json by_mapping(const std::array<double, kNumColumns>& values, bool with_core) {
  ordered_json json;
  if (with_core) json["core"] = values[static_cast<std::size_t>(Column::kCore)];
  json["numa"] = values[static_cast<std::size_t>(Column::kNuma)];
  json["socket"] = values[static_cast<std::size_t>(Column::kSocket)];
  return json;
}

}  // namespace

bool meets_targets(const PaperTable& table) {
  const std::vector<Target> targets = targets_of(table);
  return std::all_of(targets.begin(), targets.end(),
                     [](const Target& target) { return target.is_met; });
}

std::string text_of(const PaperTable& table, const ModelMachine& machine) {
  return fmt::format(
      "MPI_Barrier over shared memory on {}: the model against M. G. Kurnosov, Vestnik SibGUTI "
      "16(2), 2022\n"
      "Trained on 64 cores and map-by core; numa and socket are held out. Medians over the "
      "parameter sets; seed {}\n\n{}\n{}\n{}",
      machine.title, table.seed, cells_text(table), targets_text(table), sets_text(table));
}

ordered_json to_json(const PaperTable& table, const ModelMachine& machine) {
  ordered_json json;
  json["format"] = "hierbar-model-table-1";
  json["revision"] = kRevision;
  json["machine"] = machine.title;
  json["seed"] = table.seed;
  json["train_mape_percent"] = table.train_percent;
  json["heldout_mape_percent"] = table.heldout_percent;
  json["null_mape_percent"] = table.null_heldout_percent;
  json["null_mape_percent_by_mapping"] = by_mapping(table.null_percent, false);
  json["spearman"] = by_mapping(table.spearman, true);
  json["gain_over_topo_numa"] = {{"min", least_gain(table)}, {"median", median_gain(table)}};
  json["variation_over_mappings_percent"] = worst_variation(table);
  for (std::size_t c = 0; c < kNumColumns; ++c)
    json["fastest"][std::string(kColumnNames[c])] = table.best[c];
  json["without_topo"] = {{"worst_percent", table.without_topo.worst_percent},
                          {"right_order", table.without_topo.right_order},
                          {"parameter_sets", table.without_topo.num_sets}};
  json["targets"] = json["cells"] = json["parameter_sets"] = ordered_json::array();
  for (const Target& target : targets_of(table))
    json["targets"].push_back({{"target", target.text}, {"met", target.is_met}});
  for (std::size_t i = 0; i < table.cells.size(); ++i) {
    json["cells"].push_back(
        {{"algorithm", paper_rows()[table.cells[i].row].name},
         {"mapping", kColumnNames[static_cast<std::size_t>(table.cells[i].column)]},
         {"training", is_training(table.cells[i])},
         {"paper_us", paper_us(table.cells[i])},
         {"model_us", table.us[i]}});
  }
  for (std::size_t i = 0; i < table.sets.size(); ++i) {
    json["parameter_sets"].push_back(
        {{"name", table.sets[i].name},
         {"trained_on", table.sets[i].trained_on},
         {"train_mape_percent", table.sets[i].train_percent},
         {"heldout_mape_percent", table.sets[i].heldout_percent},
         {"least_gain_period", table.gains[i].period},
         {"least_gain_isolated", table.gains[i].isolated},
         {"variation_over_mappings_percent", table.gains[i].variation_percent},
         {"model_us", table.sets[i].us}});
  }
  return json;
}

}  // namespace hierbar::bench::model

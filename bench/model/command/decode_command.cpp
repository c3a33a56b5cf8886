// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/common/decode_graph.hpp"
#include "bench/common/report/report_json.hpp"
#include "bench/model/command/commands.hpp"
#include "bench/model/region/region_trial.hpp"
#include "bench/model/trial/compare.hpp"

namespace hierbar::bench::model {
namespace {

// ---- the prediction ----

// A decode with one way to synchronise after each operation. The vectors are by parameter set.
struct DecodePrediction {
  std::string name;
  bool has_regions = false;  // a region for each operation; else one region, and barriers
  std::uint32_t num_threads = 0;
  double ideal_ns = 0;              // the graph's work divided among the threads
  std::vector<double> step_ns;      // one barrier or one region, without work
  std::vector<double> graph_ns;     // ideal_ns and a step for each operation
  std::vector<double> sync_shares;  // of graph_ns: what is not ideal_ns
};

// Ours, libomp's default, and two more of its patterns. The simulation of its distributed barrier
// finds no end where all threads are in one of its groups.
bool is_predicted(RegionShape shape) {
  return shape == RegionShape::kLean || shape == RegionShape::kHyper ||
         shape == RegionShape::kTree || shape == RegionShape::kLinear;
}

DecodePrediction predict(std::string name, bool has_regions, std::uint32_t num_threads,
                         std::vector<double> step_ns, const DecodeGraph& graph) {
  DecodePrediction prediction{.name = std::move(name),
                              .has_regions = has_regions,
                              .num_threads = num_threads,
                              .ideal_ns = graph_work_ns(graph) / num_threads,
                              .step_ns = std::move(step_ns),
                              .graph_ns = {},
                              .sync_shares = {}};
  for (const double step : prediction.step_ns) {
    const double sync = graph.num_operations * step;
    prediction.graph_ns.push_back(prediction.ideal_ns + sync);
    prediction.sync_shares.push_back(sync / (prediction.ideal_ns + sync));
  }
  return prediction;
}

// Predicts decodes with our barrier, with one counter and a sense (what a spin barrier of ggml's
// kind does), with lean regions and with three patterns of unmodified libomp. A step costs what it
// does alone, when all threads enter together, because the work is divided evenly. Threads share no
// core. Errors: those of Scenario::make(), of cost_of(), and how a region failed.
Result<std::vector<DecodePrediction>> predict_decodes(const ModelMachine& machine, Mapping mapping,
                                                      std::uint32_t num_threads,
                                                      const DecodeGraph& graph, std::uint64_t seed,
                                                      const Episodes& episodes) {
  Result<Scenario> scenario = Scenario::make(machine.machine, mapping, num_threads);
  if (!scenario) return Error{scenario.error()};
  std::vector<DecodePrediction> predictions;
  for (const Algorithm algorithm : {Algorithm::kHier, Algorithm::kSenseReversing}) {
    Result<Costs> costs =
        cost_of(*scenario, algorithm, scenario->engine_plan(), machine.sets, seed, episodes);
    if (!costs) return Error{costs.error()};
    predictions.push_back(predict(std::string(algorithm_name(algorithm)), false, num_threads,
                                  std::move(costs->isolated), graph));
  }
  RegionTrial trial(*scenario, scenario->engine_plan());
  for (const NamedRegionShape& named : kRegionShapes) {
    if (!is_predicted(named.shape)) continue;
    std::vector<double> isolated;
    for (const ParameterSet& set : machine.sets) {
      const Result<RegionTimes> times = trial.run(named.shape, set.parameters, seed, episodes);
      if (!times) return Error{times.error()};
      isolated.push_back(times->isolated);
    }
    predictions.push_back(
        predict(std::string(named.name), true, num_threads, std::move(isolated), graph));
  }
  return predictions;
}

// ---- the command ----

struct DecodeCommandOptions {
  CommonOptions common;
  std::vector<std::uint32_t> counts{16, 64, 128, 256};
  DecodeGraph graph;
};

constexpr const char* kSimulated =
    "SIMULATED: no decode was measured. The work is divided by the threads, and each barrier or "
    "region\ncosts what it does in the model.";

using Predictions = std::vector<DecodePrediction>;

std::string range_text(const std::vector<double>& values, double unit) {
  const Range range = range_of(values);
  return fmt::format("{:.2f} ({:.2f} .. {:.2f})", range.median / unit, range.least / unit,
                     range.most / unit);
}

std::string rows_text(const Predictions& predictions) {
  const DecodePrediction& first = predictions.front();
  const std::string title =
      fmt::format("{} threads, ideal {:.2f} ms", first.num_threads, first.ideal_ns / 1e6);
  std::string text = fmt::format("{:<30}{:>26}{:>28}{:>26}\n", title, "one step, us", "graph, ms",
                                 "synchronisation, %");
  for (const DecodePrediction& row : predictions) {
    text += fmt::format("  {:<28}{:>26}{:>28}{:>26}\n",
                        fmt::format("{}, {}", row.has_regions ? "regions" : "barriers", row.name),
                        range_text(row.step_ns, 1e3), range_text(row.graph_ns, 1e6),
                        range_text(row.sync_shares, 0.01));
  }
  return text + "\n";
}

nlohmann::ordered_json to_json(const DecodePrediction& row) {
  const Range share = range_of(row.sync_shares);
  return {{"name", row.name},
          {"synchronises_by", row.has_regions ? "regions" : "barriers"},
          {"threads", row.num_threads},
          {"ideal_ns", row.ideal_ns},
          {"step", model::to_json(range_of(row.step_ns))},
          {"graph", model::to_json(range_of(row.graph_ns))},
          {"sync_share", {{"median", share.median}, {"least", share.least}, {"most", share.most}}}};
}

void decode(const DecodeCommandOptions& options) {
  constexpr Episodes kEpisodes{.warm_up = 2, .measured = 4};
  JsonOutput json(options.common.json_path);
  const ModelMachine machine = chosen_machine(options.common);
  const Mapping mapping = chosen_mapping(options.common);
  const std::uint32_t num_cores =
      static_cast<std::uint32_t>(machine.machine.one_cpu_per_core(machine.machine.allowed).count());
  const DecodeGraph& graph = options.graph;
  nlohmann::ordered_json report = start_report("hierbar-model-decode-1", machine, options.common);
  report["is_simulated"] = true;
  report["operations"] = graph.num_operations;
  report["graph_work_ns"] = graph_work_ns(graph);
  std::string text;
  for (const std::uint32_t count : options.counts) {
    if (count > num_cores) continue;
    const Predictions predictions =
        require(predict_decodes(machine, mapping, count, graph, options.common.seed, kEpisodes));
    for (const DecodePrediction& row : predictions) report["rows"].push_back(to_json(row));
    text += rows_text(predictions);
  }
  if (text.empty())
    throw Refusal(
        fmt::format("--threads: the machine has {} cores, and sharing a core is not "
                    "modelled; allowed: 2 to {}",
                    num_cores, num_cores));
  if (options.common.json_path != "-") {
    fmt::print(
        "{}: a decode of {} operations, {:.1f} ms of work, map {}, {} parameter sets, seed "
        "{}\n{}\n{}\n\n{}",
        machine.title, graph.num_operations, graph_work_ns(graph) / 1e6, options.common.mapping,
        machine.sets.size(), options.common.seed, machine.provenance, kSimulated, text);
  }
  json.write(report);
}

}  // namespace

void add_decode_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "decode", "The share of synchronisation when a language model decodes, simulated");
  auto options = std::make_shared<DecodeCommandOptions>();
  add_machine_options(*command, options->common, kCalibratedMachine);
  command
      ->add_option("--threads", options->counts,
                   "Threads of the team; numbers above the machine's cores are left out")
      ->delimiter(',')
      ->check(CLI::Range(2, 4096))
      ->type_name("N,...")
      ->capture_default_str();
  command
      ->add_option("--graph-ms", options->graph.work_ms,
                   "Work of the whole graph in one thread; default: 25.2, that of the benchmark")
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("MS");
  add_mapping_option(*command, options->common);
  refuse_short_n(*command, "--threads");
  add_run_options(*command, options->common);
  command->footer(
      "The graph is the default one of omp_barrier_bench's construct `decode`, which measures what "
      "is predicted here.\n"
      "  barriers  one region, and a barrier after each operation: hier is ours, sense-reversing "
      "one counter that all\n"
      "            threads increment and one word that they poll, as in programs without OpenMP\n"
      "  regions   a region for each operation: lean is ours, the others are unmodified libomp's "
      "patterns\n"
      "  ideal     the work divided by the threads\n"
      "Figures are medians over the parameter sets, with the least and the most. A step is one "
      "that all threads enter\n"
      "together. What a thread does alone in the runtime, memory bandwidth and unequal threads are "
      "not in them.\n"
      "\n"
      "Examples:\n"
      "  barrier_model decode --machine milan\n"
      "  barrier_model decode --machine milan --threads 64 --graph-ms 1600\n"
      "  barrier_model decode --machine manycore --threads 256 --json decode.json\n");
  command->callback([options] { decode(*options); });
}

}  // namespace hierbar::bench::model

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/command/predict_command.hpp"

#include <algorithm>
#include <iostream>
#include <memory>

#include "base/files/new_file.hpp"
#include "base/files/small_file.hpp"
#include "cli/advice/prediction_report.hpp"
#include "cli/option/option_values.hpp"

namespace hierbar {
namespace {

constexpr const char* kPerNodeOption = "--per-node";

struct PredictOptions {
  PredictionOptions prediction;
  std::string most_nodes;
  std::string per_node;
  std::string measured;
  std::string html;
  bool json = false;
};

std::uint32_t read_limit(const CLI::App& command, const char* option, const std::string& text, std::uint32_t otherwise) {
  if (command.count(option) == 0) return otherwise;
  const std::uint32_t number = parse_count(text, network::kMostTrafficRanks);
  if (number == 0) refuse(option, text, "no such number", "1 to " + std::to_string(network::kMostTrafficRanks));
  return number;
}

// The best first.
std::vector<PredictedSplit> predict_all(const PredictionRequest& request, const std::vector<network::Split>& splits) {
  std::vector<PredictedSplit> results;
  std::vector<Quartiles> times;
  for (const network::Split& split : splits) {
    // Packed is what launchers do; more ranks than cores start again with the first.
    const auto spots = spots_of(request.machine, Pattern::kPacked, split, 1);
    if (!spots) throw CLI::ValidationError("-n", spots.error());
    auto prediction = predict(request.traffic, *spots, {request.costs.contention, request.costs.parameters}, request.model);
    if (!prediction) throw CLI::ValidationError("--network", request.costs.source + ": " + prediction.error());
    times.push_back(prediction->time_us);
    results.push_back({split, *std::move(prediction), 0, {}});
  }
  const std::vector<std::uint32_t> ranks = network::rank_by_time(times);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].rank = ranks[i];
  std::stable_sort(results.begin(), results.end(), [](const PredictedSplit& a, const PredictedSplit& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.prediction.time_us.median < b.prediction.time_us.median;
  });
  return results;
}

void read_measured(const std::string& path, std::vector<PredictedSplit>& splits) {
  constexpr std::size_t kMostBytes = 1U << 20;
  const SmallFile file = read_small_file(path, kMostBytes);
  const std::string problem = file.problem.empty() ? add_measured(file.text, splits) : file.problem;
  if (!problem.empty()) refuse("--measured", path, problem, "a line for each run, SPLIT,MICROSECONDS, as 2x4,812.5");
}

void show(const CLI::App& command, const PredictOptions& options) {
  const PredictionRequest request = read_prediction_request(command, options.prediction);
  const std::uint32_t most_nodes = read_limit(command, kNodesOption, options.most_nodes, request.num_ranks);
  const std::uint32_t per_node = read_limit(command, kPerNodeOption, options.per_node, num_cores(request.machine));
  const std::vector<network::Split> splits = network::all_splits(request.num_ranks, most_nodes, per_node);
  if (splits.empty()) {
    throw CLI::ValidationError("-n", "'" + options.prediction.num_ranks + "': more than " + std::to_string(most_nodes) +
                                         " nodes of " + std::to_string(per_node) + " ranks take; see --nodes and --per-node");
  }
  std::vector<PredictedSplit> results = predict_all(request, splits);
  if (!options.measured.empty()) read_measured(options.measured, results);
  const PredictionReport report{request, options.prediction.model, results};
  if (!options.html.empty()) {
    const std::string problem = write_new_file(options.html, prediction_as_html(report));
    if (!problem.empty()) refuse("--html", options.html, problem, "a file that can be written");
    if (!options.json) return;
  }
  std::cout << (options.json ? prediction_as_json(report) : prediction_as_text(report));
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("predict", "Predict what messages cost for every split of ranks over nodes");
  auto options = std::make_shared<PredictOptions>();
  command->add_option("pattern", options->prediction.traffic, std::string("What is sent: ") + network::kAllowedTraffic)
      ->type_name("PATTERN");
  add_prediction_options(*command, options->prediction);
  command->add_option(kNodesOption, options->most_nodes, "At most so many nodes; default: as many as ranks")->type_name("N");
  command->add_option(kPerNodeOption, options->per_node, "At most so many ranks on a node; default: as many as it has cores")
      ->type_name("N");
  command
      ->add_option("--measured", options->measured,
                   "Compare with this file: a line for each run of the program, SPLIT,MICROSECONDS, as 2x4,812.5")
      ->type_name("FILE");
  command
      ->add_option("--html", options->html, "Write a page with pictures to this file, which needs no other; print no text then")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Models, of the steps of the pattern (E. Peryshkova, M. Kurnosov, 2019: paper P3):\n"
      "  paper   the sum over steps of the largest t(m, cf) among the channels that the step uses, where cf pairs share one\n"
      "  shared  LogGP, and for the slowest channel of a step its bytes over the bandwidth that cf pairs have together\n"
      "order is that of the predicted times. Splits inside each other's quartiles have the same. Ranks are packed on a node.\n"
      "\n"
      "Examples:\n"
      "  hierbar predict alltoall:1M -n 8\n"
      "  hierbar predict alltoall:64K -n 64 --algorithm pairwise --model paper --json\n"
      "  hierbar predict --matrix bytes.csv -n 32 --network network.json --nodes 4\n"
      "  hierbar predict alltoall:1M -n 64 --network infiniband-hdr\n"
      "  hierbar predict alltoall:1M -n 8 --measured runs.csv --html prediction.html\n");
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/command/predict_command.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/option/channel_costs.hpp"
#include "cli/option/option_values.hpp"

namespace hierbar {
namespace {

using network::ChannelStatistics;
using nlohmann::ordered_json;

constexpr const char* kPerNodeOption = "--per-node";

struct PredictOptions {
  PredictionOptions prediction;
  std::string most_nodes;
  std::string per_node;
  bool json = false;
};

struct PredictedSplit {
  network::Split split;
  network::Prediction prediction;
  std::uint32_t rank = 0;
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
    if (!prediction) throw CLI::ValidationError("--profile", request.costs.source + ": " + prediction.error());
    times.push_back(prediction->time_us);
    results.push_back({split, *std::move(prediction)});
  }
  const std::vector<std::uint32_t> ranks = network::rank_by_time(times);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].rank = ranks[i];
  std::stable_sort(results.begin(), results.end(), [](const PredictedSplit& a, const PredictedSplit& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.prediction.time_us.median < b.prediction.time_us.median;
  });
  return results;
}

std::string header(const PredictionRequest& request) {
  return describe(request.traffic) + " among " + std::to_string(request.num_ranks) +
         (request.num_ranks == 1 ? " rank on " : " ranks on nodes like ") + machine_identity(request.machine);
}

void print_text(const PredictionRequest& request, const std::vector<PredictedSplit>& results, const std::string& model) {
  std::printf("%s\nmodel %s, costs from %s\n\n  order  %-14s %12s %25s  %-12s %s\n", header(request).c_str(), model.c_str(),
              request.costs.source.c_str(), "nodes x ranks", "time, ms", "quartiles", "binds", "cf largest/mean");
  for (const PredictedSplit& one : results) {
    const Quartiles& time = one.prediction.time_us;
    std::string cf;
    for (const auto& [kind, statistics] : one.prediction.channels) {
      char text[64];
      std::snprintf(text, sizeof text, "%s%s %u/%.1f", cf.empty() ? "" : ", ", channel_name(kind), statistics.largest_cf,
                    statistics.mean_cf);
      cf += text;
    }
    std::printf("  %5u  %-14s %12.3f %12.3f %12.3f  %-12s %s\n", one.rank, network::describe(one.split).c_str(),
                time.median / 1e3, time.lower / 1e3, time.upper / 1e3,
                one.prediction.channels.empty() ? "-" : channel_name(one.prediction.binding), cf.empty() ? "-" : cf.c_str());
  }
  const auto shared = std::count_if(results.begin(), results.end(), [](const PredictedSplit& one) { return one.rank == 1; });
  if (shared > 1) std::printf("\nno difference among the first %d: each is inside the others' error\n", static_cast<int>(shared));
}

ordered_json channels_json(const network::Prediction& prediction) {
  ordered_json channels = ordered_json::array();
  for (const auto& [kind, statistics] : prediction.channels) {
    channels.push_back({{"channel", channel_name(kind)},
                        {"largest_cf", statistics.largest_cf},
                        {"mean_cf", statistics.mean_cf},
                        {"num_steps", statistics.num_steps},
                        {"num_binding", statistics.num_binding},
                        {"binding_us", statistics.binding_us}});
  }
  return channels;
}

ordered_json predictions_as_json(const PredictionRequest& request, const std::vector<PredictedSplit>& results,
                                 const std::string& model) {
  ordered_json splits = ordered_json::array();
  for (const PredictedSplit& one : results) {
    const Quartiles& time = one.prediction.time_us;
    splits.push_back({{"split", network::describe(one.split)},
                      {"ranks_per_node", one.split},
                      {"order", one.rank},
                      {"time_us", {{"q1", time.lower}, {"median", time.median}, {"q3", time.upper}}},
                      {"binds", one.prediction.channels.empty() ? ordered_json() : channel_name(one.prediction.binding)},
                      {"num_steps", one.prediction.num_steps},
                      {"channels", channels_json(one.prediction)}});
  }
  return {{"traffic", describe(request.traffic)},
          {"num_ranks", request.num_ranks},
          {"machine", machine_identity(request.machine)},
          {"model", model},
          {"source", request.costs.source},
          {"splits", std::move(splits)}};
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
  const std::vector<PredictedSplit> results = predict_all(request, splits);
  if (options.json) {
    std::cout << predictions_as_json(request, results, options.prediction.model).dump(2) << '\n';
  } else {
    print_text(request, results, options.prediction.model);
  }
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
      "  hierbar predict --matrix bytes.csv -n 32 --profile network.json --nodes 4\n");
  command->callback([command, options] { show(*command, *options); });
}

}  // namespace hierbar

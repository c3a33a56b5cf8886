// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>
#include "cli/commands.hpp"

#include "base/files.hpp"
#include "base/quartiles.hpp"
#include "base/text.hpp"
#include "cli/option/channel_costs.hpp"
#include "cli/option/machine_option.hpp"
#include "cli/option/network_options.hpp"
#include "network/contention/predict.hpp"
#include "network/network_json.hpp"
#include "report/format/html.hpp"

namespace hierbar {
namespace {

struct PredictedSplit {
  network::Split split;
  network::Prediction prediction;
  std::uint32_t rank = 0;                // in the order of the predicted times, from 1
  std::optional<Quartiles> measured_us;  // of the program's runs
};

// How predictions and measurements agree.
struct Agreement {
  std::uint32_t num_splits = 0;       // that were measured; if none, the rest is 0
  double mean_error = 0;              // of |predicted / measured - 1|, of medians
  std::optional<double> kendall_tau;  // over the pairs whose measured quartiles do not overlap
};

// What `hierbar predict` found out, to be printed. The splits are in their order, the fastest
// first.
struct PredictionReport {
  const PredictionRequest& request;
  const std::string& model;
  const std::vector<PredictedSplit>& splits;
};

// 0 if the text is not a time.
double parse_time(const std::string& text) {
  double us = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, us);
  return problem == std::errc() && stop == end && std::isfinite(us) && us > 0 ? us : 0;
}

bool overlap(const Quartiles& one, const Quartiles& other) {
  return one.lower <= other.upper && other.lower <= one.upper;
}

// Gives splits what was measured of them. `text` has a line for each run: the split as
// network::describe() writes it, a comma, and microseconds. Lines that begin with # are left out.
// Returns what is wrong with the text, or an empty string.
std::string add_measured(const std::string& text, std::vector<PredictedSplit>& splits) {
  std::map<std::string, std::vector<double>> runs;
  for (const PredictedSplit& one : splits) runs[network::describe(one.split)];
  std::istringstream lines(text);
  int number = 0, num_runs = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::string where = "line " + std::to_string(number) + ": ";
    const std::size_t comma = line.find(',');
    const std::string split = line.substr(0, comma);
    const double us = comma == std::string::npos ? 0 : parse_time(line.substr(comma + 1));
    if (us == 0) return where + "'" + line + "' is not SPLIT,MICROSECONDS";
    const auto found = runs.find(split);
    if (found == runs.end()) return where + "'" + split + "' is not one of the predicted splits";
    found->second.push_back(us);
    ++num_runs;
  }
  if (num_runs == 0) return "it has no runs";
  for (PredictedSplit& one : splits) {
    const std::vector<double>& times = runs.at(network::describe(one.split));
    if (!times.empty()) one.measured_us = quartiles_of(times);
  }
  return "";
}

Agreement compare_with_measured(const std::vector<PredictedSplit>& splits) {
  Agreement agreement;
  int num_pairs = 0, balance = 0;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    if (!splits[i].measured_us) continue;
    const double predicted = splits[i].prediction.time_us.median,
                 measured = splits[i].measured_us->median;
    ++agreement.num_splits;
    agreement.mean_error += std::abs(predicted / measured - 1);
    for (std::size_t j = 0; j < i; ++j) {
      if (!splits[j].measured_us || overlap(*splits[i].measured_us, *splits[j].measured_us))
        continue;
      ++num_pairs;
      balance += (predicted < splits[j].prediction.time_us.median) ==
                         (measured < splits[j].measured_us->median)
                     ? 1
                     : -1;
    }
  }
  if (agreement.num_splits > 0) agreement.mean_error /= agreement.num_splits;
  if (num_pairs > 0) agreement.kendall_tau = static_cast<double>(balance) / num_pairs;
  return agreement;
}

using nlohmann::ordered_json;

std::string header(const PredictionRequest& request) {
  return describe(request.traffic) + " among " + std::to_string(request.num_ranks) +
         (request.num_ranks == 1 ? " rank on " : " ranks on nodes like ") +
         machine_identity(request.machine);
}

std::string measured_text(const PredictedSplit& one) {
  if (!one.measured_us) return format_text("%12s %7s", "-", "");
  return format_text("%12.3f %+5.0f %%", one.measured_us->median / 1e3,
                     100 * (one.prediction.time_us.median / one.measured_us->median - 1));
}

std::string cf_text(const network::Prediction& prediction) {
  std::string text;
  for (const auto& [kind, statistics] : prediction.channels) {
    text += text.empty() ? "" : ", ";
    text += channel_name(kind) + format_text(" %u/%.1f", statistics.largest_cf, statistics.mean_cf);
  }
  return text.empty() ? "-" : text;
}

std::string agreement_text(const Agreement& agreement) {
  std::string text = format_text("\nmeasured: %u splits, mean error %.1f %%, ",
                                 agreement.num_splits, 100 * agreement.mean_error);
  if (!agreement.kendall_tau) return text + "no two times differ by more than their quartiles\n";
  return text + format_text("Kendall's tau %.2f where times differ by more than their quartiles\n",
                            *agreement.kendall_tau);
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

ordered_json split_json(const PredictedSplit& one) {
  ordered_json split = {
      {"split", network::describe(one.split)},
      {"ranks_per_node", one.split},
      {"order", one.rank},
      {"time_us", quartiles_json(one.prediction.time_us)},
      {"binds",
       one.prediction.channels.empty() ? ordered_json() : channel_name(one.prediction.binding)},
      {"num_steps", one.prediction.num_steps},
      {"channels", channels_json(one.prediction)}};
  if (one.measured_us) split["measured_us"] = quartiles_json(*one.measured_us);
  return split;
}

ordered_json as_json(const PredictionReport& report) {
  ordered_json splits = ordered_json::array();
  for (const PredictedSplit& one : report.splits) splits.push_back(split_json(one));
  ordered_json root = {{"traffic", describe(report.request.traffic)},
                       {"num_ranks", report.request.num_ranks},
                       {"machine", machine_identity(report.request.machine)},
                       {"model", report.model},
                       {"source", report.request.costs.source},
                       {"typical", typical_json(report.request.costs.typical)},
                       {"splits", std::move(splits)}};
  if (const Agreement agreement = compare_with_measured(report.splits); agreement.num_splits > 0) {
    root["measured"] = {{"num_splits", agreement.num_splits},
                        {"mean_error", agreement.mean_error},
                        {"kendall_tau", agreement.kendall_tau ? ordered_json(*agreement.kendall_tau)
                                                              : ordered_json()}};
  }
  return root;
}

std::string prediction_as_text(const PredictionReport& report) {
  const Agreement agreement = compare_with_measured(report.splits);
  std::string text =
      header(report.request) + "\nmodel " + report.model + ", costs from " +
      report.request.costs.source + "\n\n" +
      format_text("  order  %-14s %12s %25s", "nodes x ranks", "time, ms", "quartiles") +
      (agreement.num_splits > 0 ? format_text(" %12s %7s", "measured", "error") : "") +
      format_text("  %-12s %s\n", "binds", "cf largest/mean");
  for (const PredictedSplit& one : report.splits) {
    const Quartiles& time = one.prediction.time_us;
    text += format_text("  %5u  %-14s %12.3f %12.3f %12.3f", one.rank,
                        network::describe(one.split).c_str(), time.median / 1e3, time.lower / 1e3,
                        time.upper / 1e3);
    if (agreement.num_splits > 0) text += " " + measured_text(one);
    text +=
        format_text("  %-12s ",
                    one.prediction.channels.empty() ? "-" : channel_name(one.prediction.binding)) +
        cf_text(one.prediction) + "\n";
  }
  const auto shared = std::count_if(report.splits.begin(), report.splits.end(),
                                    [](const PredictedSplit& one) { return one.rank == 1; });
  if (shared > 1)
    text += "\nno difference among the first " + std::to_string(shared) +
            ": each lies within the others' error\n";
  if (agreement.num_splits > 0) text += agreement_text(agreement);
  return text + typical_note(report.request.costs.typical);
}

std::string prediction_as_json(const PredictionReport& report) {
  return as_json(report).dump(2) + "\n";
}

// A page with the times of all splits, and the tables of shared channels as a heat map.
std::string prediction_as_html(const PredictionReport& report) {
  ordered_json data = as_json(report);
  data["contention"] = contention_json(report.request.costs.contention);
  return report::html_page({.title = "Predicted: " + header(report.request),
                            .text_name = "The prediction as text",
                            .text = prediction_as_text(report),
                            .data = data.dump(),
                            .script = report::html_prediction()});
}

struct PredictOptions {
  PredictionOptions prediction;
  std::string most_nodes;
  std::string per_node;
  std::string measured;
  std::string html;
  bool json = false;
};

std::uint32_t read_limit(const CLI::App& command, const char* option, const std::string& text,
                         std::uint32_t otherwise) {
  if (command.count(option) == 0) return otherwise;
  const std::uint32_t number = parse_count(text, network::kMostTrafficRanks);
  if (number == 0)
    refuse(option, text, "no such number", "1 to " + std::to_string(network::kMostTrafficRanks));
  return number;
}

// The best first.
std::vector<PredictedSplit> predict_all(const PredictionRequest& request,
                                        const std::vector<network::Split>& splits) {
  std::vector<PredictedSplit> results;
  std::vector<Quartiles> times;
  for (const network::Split& split : splits) {
    // Packed is what launchers do; more ranks than cores start again with the first.
    const auto spots = spots_of(request.machine, Pattern::kPacked, split, 1);
    if (!spots) throw CLI::ValidationError("-n", spots.error());
    auto prediction = predict(request.traffic, *spots,
                              {request.costs.contention, request.costs.parameters}, request.model);
    if (!prediction)
      throw CLI::ValidationError("--network", request.costs.source + ": " + prediction.error());
    times.push_back(prediction->time_us);
    results.push_back({split, *std::move(prediction), 0, {}});
  }
  const std::vector<std::uint32_t> ranks = network::rank_by_time(times);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].rank = ranks[i];
  std::stable_sort(
      results.begin(), results.end(), [](const PredictedSplit& a, const PredictedSplit& b) {
        return a.rank != b.rank ? a.rank < b.rank
                                : a.prediction.time_us.median < b.prediction.time_us.median;
      });
  return results;
}

void read_measured(const std::string& path, std::vector<PredictedSplit>& splits) {
  constexpr std::size_t kMostBytes = 1U << 20;
  const SmallFile file = read_small_file(path, kMostBytes);
  const std::string problem = file.problem.empty() ? add_measured(file.text, splits) : file.problem;
  if (!problem.empty())
    refuse("--measured", path, problem, "a line for each run, SPLIT,MICROSECONDS, as 2x4,812.5");
}

void show(const CLI::App& command, const PredictOptions& options) {
  const PredictionRequest request = read_prediction_request(command, options.prediction);
  const std::uint32_t most_nodes =
      read_limit(command, kNodesOption, options.most_nodes, request.num_ranks);
  const std::uint32_t per_node =
      read_limit(command, kPerNodeOption, options.per_node, num_cores(request.machine));
  const std::vector<network::Split> splits =
      network::all_splits(request.num_ranks, most_nodes, per_node);
  if (splits.empty()) {
    throw CLI::ValidationError("-n", "'" + options.prediction.num_ranks + "': more than " +
                                         std::to_string(most_nodes) + " nodes of " +
                                         std::to_string(per_node) +
                                         " ranks take; see --nodes and --per-node");
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

// A word by itself is probably what is sent.
void refuse_words(const CLI::App& command) {
  const std::vector<std::string> words = command.remaining();
  if (words.empty()) return;
  if (words.front().starts_with('-')) throw CLI::ExtrasError(command.get_name(), words);
  throw CLI::ValidationError("'" + words.front() + "'",
                             "the traffic is given by " + std::string(kTrafficOption));
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "predict", "Predict what messages cost for every split of ranks over nodes");
  auto options = std::make_shared<PredictOptions>();
  add_prediction_options(*command, options->prediction);
  command
      ->add_option(kNodesOption, options->most_nodes,
                   "Nodes of the job, at most; default: as many as ranks")
      ->type_name("N");
  command
      ->add_option(kPerNodeOption, options->per_node,
                   "Ranks of a node, at most; default: as many as it has cores")
      ->type_name("N");
  command
      ->add_option("--measured", options->measured,
                   "Compare with this file: a line for each run of the program, "
                   "SPLIT,MICROSECONDS, as 2x4,812.5")
      ->type_name("FILE");
  command
      ->add_option("--html", options->html,
                   "Write a self-contained page with charts to this file, and print no text")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Models, of the steps of the pattern (E. Peryshkova, M. Kurnosov, 2019: paper P3):\n"
      "  paper   the sum over steps of the largest t(m, cf) among the channels that the step uses, "
      "where cf pairs share one\n"
      "  shared  LogGP, and for the slowest channel of a step its bytes over the bandwidth that cf "
      "pairs have together\n"
      "order is the rank by predicted time; splits within each other's quartiles share it. Ranks "
      "are packed on a node.\n"
      "\n"
      "Examples:\n"
      "  hierbar predict --traffic alltoall:1M -n 8\n"
      "  hierbar predict --traffic alltoall:64K -n 64 --alltoall pairwise --model paper --json\n"
      "  hierbar predict --matrix bytes.csv -n 32 --network network.json --nodes 4\n"
      "  hierbar predict --traffic alltoall:1M -n 64 --network infiniband-hdr\n"
      "  hierbar predict --traffic alltoall:1M -n 8 --measured runs.csv --html prediction.html\n");
  command->allow_extras();  // for refuse_words()
  command->callback([command, options] {
    refuse_words(*command);
    show(*command, *options);
  });
}

}  // namespace hierbar

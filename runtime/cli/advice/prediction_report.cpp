// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/advice/prediction_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/advice/quartiles_json.hpp"
#include "cli/option/typical_option.hpp"
#include "network/contention/contention_json.hpp"
#include "report/format/html_assets.hpp"
#include "report/format/html_page.hpp"

namespace hierbar {
namespace {

using nlohmann::ordered_json;

std::string header(const PredictionRequest& request) {
  return describe(request.traffic) + " among " + std::to_string(request.num_ranks) +
         (request.num_ranks == 1 ? " rank on " : " ranks on nodes like ") + machine_identity(request.machine);
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
  std::string text = format_text("\nmeasured: %u splits, mean error %.1f %%, ", agreement.num_splits, 100 * agreement.mean_error);
  if (!agreement.kendall_tau) return text + "no two times differ by more than their quartiles\n";
  return text + format_text("Kendall's tau %.2f where times differ by more than their quartiles\n", *agreement.kendall_tau);
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
  ordered_json split = {{"split", network::describe(one.split)},
                        {"ranks_per_node", one.split},
                        {"order", one.rank},
                        {"time_us", quartiles_json(one.prediction.time_us)},
                        {"binds", one.prediction.channels.empty() ? ordered_json() : channel_name(one.prediction.binding)},
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
                        {"kendall_tau", agreement.kendall_tau ? ordered_json(*agreement.kendall_tau) : ordered_json()}};
  }
  return root;
}

}  // namespace

std::string prediction_as_text(const PredictionReport& report) {
  const Agreement agreement = compare_with_measured(report.splits);
  std::string text = header(report.request) + "\nmodel " + report.model + ", costs from " + report.request.costs.source + "\n\n" +
                     format_text("  order  %-14s %12s %25s", "nodes x ranks", "time, ms", "quartiles") +
                     (agreement.num_splits > 0 ? format_text(" %12s %7s", "measured", "error") : "") +
                     format_text("  %-12s %s\n", "binds", "cf largest/mean");
  for (const PredictedSplit& one : report.splits) {
    const Quartiles& time = one.prediction.time_us;
    text += format_text("  %5u  %-14s %12.3f %12.3f %12.3f", one.rank, network::describe(one.split).c_str(), time.median / 1e3,
                        time.lower / 1e3, time.upper / 1e3);
    if (agreement.num_splits > 0) text += " " + measured_text(one);
    text += format_text("  %-12s ", one.prediction.channels.empty() ? "-" : channel_name(one.prediction.binding)) +
            cf_text(one.prediction) + "\n";
  }
  const auto shared =
      std::count_if(report.splits.begin(), report.splits.end(), [](const PredictedSplit& one) { return one.rank == 1; });
  if (shared > 1) text += "\nno difference among the first " + std::to_string(shared) + ": each is inside the others' error\n";
  if (agreement.num_splits > 0) text += agreement_text(agreement);
  return text + typical_note(report.request.costs.typical);
}

std::string prediction_as_json(const PredictionReport& report) { return as_json(report).dump(2) + "\n"; }

std::string prediction_as_html(const PredictionReport& report) {
  ordered_json data = as_json(report);
  data["contention"] = contention_json(report.request.costs.contention);
  return report::html_page({.title = "Predicted: " + header(report.request),
                            .text_name = "The prediction as text",
                            .text = prediction_as_text(report),
                            .data = data.dump(),
                            .script = report::html_prediction()});
}

}  // namespace hierbar

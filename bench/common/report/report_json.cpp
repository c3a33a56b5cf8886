// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/common/report/report_json.hpp"

#include <csignal>
#include <utility>

namespace hierbar::bench {
namespace {

using nlohmann::json;

std::string stop_text(int signal) {
  return signal == 0 ? "" : signal == SIGALRM ? "time" : "signal";
}

std::optional<double> known(double share) {
  return share < 0 ? std::nullopt : std::optional(share);
}

json to_json(const Block& block) {
  return {{"repetition", block.repetition},
          {"kept", block.kept},
          {"one_way_before_ns", or_null(block.one_way_before_ns)},
          {"one_way_after_ns", or_null(block.one_way_after_ns)},
          {"cpu_share_taken", block.taken_by_others}};
}

json summary_json(const std::optional<Summary>& summary) {
  if (!summary) return {};
  return {{"samples", summary->num_samples},
          {"median", summary->median},
          {"lower_quartile", summary->lower_quartile},
          {"upper_quartile", summary->upper_quartile},
          {"minimum", summary->minimum},
          {"maximum", summary->maximum}};
}

json ratio_json(const Group& group, const std::optional<Ratio>& ratio) {
  if (!ratio) return {};
  return {{"value", ratio->value},
          {"lowest", ratio->lowest},
          {"highest", ratio->highest},
          {"doubt", or_null(std::string(doubt_of(group, *ratio)))}};
}

json to_json(const Group& group, const Series& series, const Series* reference) {
  json samples = json::array();
  for (const auto& [repetition, values] : series.samples) {
    samples.push_back({{"repetition", repetition}, {"ns", values}});
    const auto ideal = series.ideal.find(repetition);
    if (ideal != series.ideal.end()) samples.back()["ideal_ns"] = ideal->second;
  }
  return {{"name", series.name},
          {"kind", family_name(series.family)},
          {"failure", or_null(series.failure)},
          {"summary", summary_json(summary_of(group, series))},
          {"ideal", summary_json(ideal_of(group, series))},
          {"sync_share", summary_json(sync_share_of(group, series))},
          {"ratio_to_reference",
           ratio_json(group,
                      reference == nullptr ? std::nullopt : ratio_of(group, series, *reference))},
          {"samples", std::move(samples)}};
}

}  // namespace

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(); }

json or_null(const std::string& text) { return text.empty() ? json() : json(text); }

json to_json(const Host& host) {
  return {{"cpu", host.cpu_model},     {"topology", host.topology},  {"kernel", host.kernel},
          {"governor", host.governor}, {"virtual", host.hypervisor}, {"allowed_cpus", host.cpus}};
}

json group_json(const Group& group, const std::string& quantity,
                const std::string& reference_name) {
  json series = json::array();
  const Series* reference = find_series(group, reference_name);
  for (const Series& entry : group.series) series.push_back(to_json(group, entry, reference));
  json blocks = json::array();
  for (const Block& block : group.blocks) blocks.push_back(to_json(block));
  return {
      {quantity, group.quantity},
      {group.participant + "s", group.num_participants},
      {"bound", group.bound},
      {"oversubscribed", group.oversubscribed},
      {"one_way_ns", or_null(group.one_way_ns)},
      {"regime", group.one_way_ns ? json(regime_name(classify_regime(*group.one_way_ns))) : json()},
      {"settled", group.settled},
      {"disturbed", or_null(group.disturbed)},
      {"blocks", std::move(blocks)},
      {"series", std::move(series)}};
}

json to_json(const Verdict& verdict) {
  const bool passed = verdict.outcome == Outcome::kPass;
  return {{"target", verdict.what},
          {"value", or_null(verdict.value)},
          {"limit", verdict.limit},
          {"passed", verdict.outcome == Outcome::kNotMeasured ? json() : json(passed)},
          {"note", verdict.note}};
}

json run_json(const Measurements& measurements) {
  return {{"seconds", measurements.seconds},
          {"repetitions", measurements.num_repetitions},
          {"one_way_ns", measurements.one_way_ns},
          {"regime_changes", measurements.num_regime_changes},
          {"repeated_blocks", measurements.num_repeated_blocks},
          {"waited_s", measurements.waited_s},
          {"stopped_by", or_null(stop_text(measurements.stopped_by))},
          {"cpu_share_of_others", or_null(known(measurements.disturbance.others))},
          {"cpu_share_stolen", or_null(known(measurements.disturbance.steal))}};
}

}  // namespace hierbar::bench

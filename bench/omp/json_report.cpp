// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>

#include "common/revision.hpp"
#include "omp/report.hpp"

// The layout: "format" names it and is raised when a reader would have to change. Times are ns, absent values null.
namespace hierbar::bench {
namespace {

using nlohmann::json;

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(); }

std::optional<double> known(double share) { return share < 0 ? std::nullopt : std::optional(share); }

json or_null(const std::string& text) { return text.empty() ? json() : json(text); }

json to_json(const Configuration& configuration) {
  return {{"name", configuration.name},
          {"explains", configuration.explains},
          {"library", configuration.library},
          {"version", configuration.version},
          {"program", configuration.worker},
          {"compiler", configuration.compiler},
          {"openmp", configuration.openmp},
          {"environment", configuration.variables},
          {"unavailable", or_null(configuration.unavailable)}};
}

json to_json(const Block& block) {
  return {{"repetition", block.repetition},
          {"kept", block.kept},
          {"one_way_before_ns", or_null(block.one_way_before_ns)},
          {"one_way_after_ns", or_null(block.one_way_after_ns)}};
}

json summary_json(const std::optional<Summary>& summary) {
  if (!summary) return {};
  return {{"samples", summary->num_samples},           {"median", summary->median},   {"lower_quartile", summary->lower_quartile},
          {"upper_quartile", summary->upper_quartile}, {"minimum", summary->minimum}, {"maximum", summary->maximum}};
}

json ratio_json(const std::optional<Ratio>& ratio) {
  if (!ratio) return {};
  return {{"value", ratio->value}, {"lowest", ratio->lowest}, {"highest", ratio->highest}};
}

const char* kind_name(Family family) {
  switch (family) {
    case Family::kHier:
      return "hier";
    case Family::kStock:
      return "stock";
    case Family::kGnu:
      return "libgomp";
    case Family::kOther:
      return "other";
    case Family::kFloor:
      return "floor";
    case Family::kHint:
      return "hint";
  }
  return "other";
}

json to_json(const Group& group, const Series& series, const Series* reference) {
  json samples = json::array();
  for (const auto& [repetition, values] : series.samples) samples.push_back({{"repetition", repetition}, {"ns", values}});
  return {{"name", series.name},
          {"kind", kind_name(series.family)},
          {"failure", or_null(series.failure)},
          {"summary", summary_json(summary_of(group, series))},
          {"ratio_to_reference", ratio_json(reference == nullptr ? std::nullopt : ratio_of(group, series, *reference))},
          {"samples", std::move(samples)}};
}

json to_json(const Group& group, const Options& options) {
  json series = json::array();
  const Series* reference = find_series(group, options.reference);
  for (const Series& entry : group.series) series.push_back(to_json(group, entry, reference));
  json blocks = json::array();
  for (const Block& block : group.blocks) blocks.push_back(to_json(block));
  return {{"construct", group.construct},
          {"threads", group.num_threads},
          {"bound", group.bound},
          {"oversubscribed", group.oversubscribed},
          {"one_way_ns", or_null(group.one_way_ns)},
          {"regime", group.one_way_ns ? json(regime_name(classify_regime(*group.one_way_ns))) : json()},
          {"settled", group.settled},
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

}  // namespace

json json_report(const Results& results, const Options& options, const Host& host, const std::vector<Verdict>& verdicts) {
  json report;
  report["format"] = "hierbar-omp-barrier-bench-1";
  report["host"] = {{"cpu", host.cpu_model},     {"topology", host.topology},  {"kernel", host.kernel},
                    {"governor", host.governor}, {"virtual", host.hypervisor}, {"allowed_cpus", host.cpus}};
  report["build"] = {
      {"compiler", HIERBAR_BENCH_COMPILER}, {"revision", kRevision}, {"program_flags", HIERBAR_BENCH_WORKER_FLAGS}};
  report["settings"] = {
      {"repetitions", options.num_repetitions}, {"budget_ms", options.budget_ms}, {"delay_ns", options.delay_ns},
      {"reference", options.reference},         {"passive", options.passive},     {"blocktime", or_null(options.blocktime)}};
  report["run"] = {{"seconds", results.seconds},
                   {"repetitions", results.num_repetitions},
                   {"one_way_ns", results.one_way_ns},
                   {"regime_changes", results.num_regime_changes},
                   {"repeated_blocks", results.num_repeated_blocks},
                   {"cpu_share_of_others", or_null(known(results.disturbance.others))},
                   {"cpu_share_stolen", or_null(known(results.disturbance.steal))}};
  report["configurations"] = report["groups"] = report["targets"] = json::array();
  for (const Configuration& configuration : results.configurations) report["configurations"].push_back(to_json(configuration));
  for (const Group& group : results.groups) report["groups"].push_back(to_json(group, options));
  for (const Verdict& verdict : verdicts) report["targets"].push_back(to_json(verdict));
  return report;
}

}  // namespace hierbar::bench

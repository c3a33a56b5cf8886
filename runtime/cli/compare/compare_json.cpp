// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/compare/compare_json.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/process.hpp"
#include "base/quartiles.hpp"
#include "cli/compare/paired_ratios.hpp"
#include "hierbar/hierbar.h"

namespace hierbar {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const PairedRatio& ratio, const FigureKind& kind) {
  if (ratio.num_pairs == 0) return nullptr;
  constexpr const char* kWords[] = {"faster", "slower", "no difference"};
  return {{"median", ratio.median},
          {"lower", ratio.lower},
          {"upper", ratio.upper},
          {"confidence", ratio.confidence},
          {"pairs", ratio.num_pairs},
          {"verdict", kWords[static_cast<int>(judge(ratio, kind.larger_is_better))]}};
}

ordered_json json_of(const OutputDifference& difference) {
  constexpr const char* kWords[] = {"none",  "numbers",         "order",
                                    "lines", "number of lines", "not compared"};
  ordered_json object = {{"kind", kWords[static_cast<int>(difference.kind)]}};
  if (difference.num_lines == 0) return object;
  object["lines"] = difference.num_lines;
  if (difference.first_line == 0) {
    object["lines_as_it_is"] = difference.num_compared;
    return object;
  }
  object["first_line"] = difference.first_line;
  object["as_it_is"] = difference.as_it_is;
  object["other"] = difference.other;
  if (difference.kind == OutputDifference::Kind::kNumbers) object["largest"] = difference.largest;
  return object;
}

ordered_json json_of(const ServedBarriers::Count& count) {
  return {
      {"processes", count.num_processes}, {"served", count.num_served}, {"left", count.num_others}};
}

ordered_json json_of(const Way& way, const WayRuns& measured, const WayRuns& base,
                     const FigureKind& kind) {
  ordered_json object = {{"name", way.name}};
  object["team_size"] = way.team_size > 0 ? ordered_json(way.team_size) : ordered_json(nullptr);
  object["command"] = way.command;
  object["variables"] = ordered_json::object();
  for (const auto& [name, value] : way.variables) object["variables"][name] = value;
  std::vector<double> figures;
  object["runs"] = ordered_json::array();
  for (const TimedRun& run : measured.runs) {
    object["runs"].push_back({{"figure", run.figure},
                              {"wall_seconds", run.wall_seconds},
                              {"cpu_seconds", run.cpu_seconds}});
    figures.push_back(run.figure);
  }
  const Quartiles quartiles = quartiles_of(figures);
  object["quartiles"] = {quartiles.lower, quartiles.median, quartiles.upper};
  object["exit_status"] = measured.last.exit_code;
  object["openmp"] = json_of(measured.last.barriers.openmp);
  object["mpi"] = json_of(measured.last.barriers.mpi);
  object["not_active"] = nullptr;
  if (measured.inactivity)
    object["not_active"] = {{"code", measured.inactivity->code},
                            {"words", measured.inactivity->words}};
  const bool is_base = &measured == &base;
  object["ratio"] = is_base ? ordered_json(nullptr) : json_of(ratio_of(measured, base), kind);
  object["output"] = is_base ? ordered_json(nullptr) : json_of(measured.difference);
  return object;
}

}  // namespace

ordered_json comparison_as_json(const CompareRequest& request, const Comparison& comparison,
                                const FigureKind& kind) {
  ordered_json object = {{"host", host_name()}, {"version", HIERBAR_VERSION_STRING}};
  object["figure"] = kind.is_own ? "the program's own" : "seconds";
  object["larger_is_better"] = kind.larger_is_better;
  object["rounds"] = comparison.num_rounds();
  object["planned_rounds"] = comparison.num_planned;
  object["warm_up_counted"] = comparison.is_warm_up_counted;
  object["signal"] =
      comparison.asked_to_end == 0 ? ordered_json(nullptr) : ordered_json(comparison.asked_to_end);
  object["taken_by_others"] = comparison.disturbance.share();
  object["doubts"] = find_doubts(request, comparison);
  object["failure"] = nullptr;
  if (comparison.failure) {
    const FailedRun& failure = *comparison.failure;
    object["failure"] = {{"way", failure.way},
                         {"exit_status", failure.run.exit_code},
                         {"signal", failure.run.signal},
                         {"last_lines", failure.last_lines}};
  }
  object["ways"] = ordered_json::array();
  for (std::size_t i = 0; i < request.ways.size(); ++i) {
    object["ways"].push_back(
        json_of(request.ways[i], comparison.ways[i], comparison.ways[request.ways[i].base], kind));
  }
  return object;
}

}  // namespace hierbar

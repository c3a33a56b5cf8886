// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/tune_report.hpp"

#include <nlohmann/json.hpp>

#include "../include/hierbar/hierbar.h"
#include "base/text.hpp"
#include "plan/plan_text.hpp"

namespace hierbar {
namespace {

std::string shape_text(const RivalShape& shape) {
  std::string text =
      std::to_string(shape.actual_leaders) + (shape.actual_leaders == 1 ? " leader" : " leaders");
  const bool has_children = shape.depth > 1;
  return has_children ? text + ", " + release_name(shape.release) : text + ", one exchange";
}

std::string ratio_text(const Quartiles& ratio) {
  return format_text("%.3f (%.3f..%.3f)", ratio.median, ratio.lower, ratio.upper);
}

std::string latency_text(const LatencyClass& latency) {
  std::string text = format_text("  %-8s %5zu", latency.name.c_str(), latency.pairs.size());
  for (const auto kind : {&OneWay::store, &OneWay::paused, &OneWay::cas}) {
    std::vector<double> medians;
    for (const PairTime& pair : latency.pairs) medians.push_back((pair.one_way.*kind).median);
    const Quartiles quartiles = quartiles_of(std::move(medians));
    text += format_text(" %8.1f %-17s", quartiles.median,
                        format_text("(%.1f..%.1f)", quartiles.lower, quartiles.upper).c_str());
  }
  return text;
}

std::vector<std::string> team_lines(const TunedTeam& tuned) {
  const std::string automatic = shape_text(tuned.rivals.front());
  const std::string team = std::to_string(tuned.team.num_participants) + " threads on " +
                           std::to_string(tuned.team.num_cores) +
                           (tuned.team.num_cores == 1 ? " core: " : " cores: ");
  switch (tuned.verdict) {
    case Verdict::kNoChoice:
      return {team + "nothing to choose, there is one shape only (" + automatic + ")" +
              (tuned.rivals.front().period_ns.median > 0
                   ? format_text(", %.0f ns", tuned.rivals.front().period_ns.median)
                   : "")};
    case Verdict::kNoTime:
      return {team + "no time was left; the automatic shape stays (" + automatic + ")"};
    default:
      break;
  }
  const RivalShape& best = tuned.rivals[tuned.best];
  const std::string figures =
      ratio_text(tuned.best_ratio) + " of its time in " + std::to_string(tuned.num_turns) +
      " turns; the automatic shape against itself: " + ratio_text(tuned.noise_ratio);
  if (tuned.verdict == Verdict::kDefault) {
    return {team + "the automatic shape stays (" + automatic +
                format_text(", %.0f ns): none of %zu others is better by more than the noise",
                            tuned.rivals[0].period_ns.median, tuned.rivals.size() - 1),
            "  the best of them, " + shape_text(best) + ", takes " + figures};
  }
  return {
      team + "now " + shape_text(best) + ", before " + automatic +
          format_text(": %.1f %% less time (%.1f..%.1f %%)", 100 * (1 - tuned.best_ratio.median),
                      100 * (1 - tuned.best_ratio.upper), 100 * (1 - tuned.best_ratio.lower)),
      format_text("  %.0f ns before; now ", tuned.rivals[0].period_ns.median) + figures};
}

}  // namespace

std::vector<std::string> describe(const TuneReport& report) {
  std::vector<std::string> lines{report.machine.cpu + " (" + report.machine.shape + ")", ""};
  lines.emplace_back(report.latencies.empty() ? "one way: no two cpus"
                                              : "one way, ns, medians of pairs (their quartiles)\n"
                                                "  kind     pairs   store                      "
                                                "with pauses                compare-and-swap");
  for (const LatencyClass& latency : report.latencies) lines.push_back(latency_text(latency));
  lines.emplace_back();
  for (const TunedTeam& team : report.teams) {
    for (std::string& line : team_lines(team)) lines.push_back(std::move(line));
  }
  return lines;
}

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json to_json(const Quartiles& quartiles) {
  return {{"lower", quartiles.lower}, {"median", quartiles.median}, {"upper", quartiles.upper}};
}

Quartiles quartiles_in(const json& object) {
  return {object.at("lower"), object.at("median"), object.at("upper")};
}

ordered_json leaders_json(std::uint32_t num_leaders) {
  return num_leaders == 0 ? ordered_json("auto") : ordered_json(num_leaders);
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoChoice:
      return "no choice";
    case Verdict::kNoTime:
      return "no time";
    case Verdict::kDefault:
      return "default";
    case Verdict::kBetter:
      break;
  }
  return "better";
}

ordered_json to_json(const RivalShape& rival) {
  return {{"leaders", leaders_json(rival.num_leaders)}, {"release", release_name(rival.release)},
          {"actual_leaders", rival.actual_leaders},     {"depth", rival.depth},
          {"period_ns", to_json(rival.period_ns)},      {"ratio", to_json(rival.ratio)}};
}

ordered_json to_json(const TunedTeam& tuned) {
  const TunedPlan plan = tuned.plan();
  ordered_json entry{{"participants", tuned.team.num_participants},
                     {"cores", tuned.team.num_cores},
                     {"domains", tuned.team.num_domains},
                     {"shape", "default"},
                     {"verdict", verdict_name(tuned.verdict)},
                     {"rivals", ordered_json::array()},
                     {"best", tuned.best == 0 ? ordered_json() : ordered_json(tuned.best)},
                     {"turns", tuned.num_turns},
                     {"best_ratio", to_json(tuned.best_ratio)},
                     {"noise_ratio", to_json(tuned.noise_ratio)}};
  if (!plan.is_default()) {
    entry["shape"] = ordered_json{{"leaders", leaders_json(plan.num_leaders)},
                                  {"release", release_name(plan.release)}};
  }
  for (const RivalShape& rival : tuned.rivals) entry["rivals"].push_back(to_json(rival));
  return entry;
}

ordered_json to_json(const LatencyClass& latency) {
  ordered_json entry{{"class", latency.name}, {"pairs", ordered_json::array()}};
  for (const PairTime& pair : latency.pairs) {
    entry["pairs"].push_back({{"cpus", {pair.cpus.first, pair.cpus.second}},
                              {"store_ns", to_json(pair.one_way.store)},
                              {"paused_ns", to_json(pair.one_way.paused)},
                              {"cas_ns", to_json(pair.one_way.cas)}});
  }
  return entry;
}

}  // namespace

ordered_json to_json(const TuneReport& report) {
  ordered_json root{{"format", kProfileFormat},
                    {"hierbar", HIERBAR_VERSION_STRING},
                    {"machine", {{"cpu", report.machine.cpu}, {"shape", report.machine.shape}}},
                    {"pause_ns", report.pause_ns},
                    {"latencies", ordered_json::array()},
                    {"plans", ordered_json::array()}};
  for (const LatencyClass& latency : report.latencies)
    root["latencies"].push_back(to_json(latency));
  for (const TunedTeam& team : report.teams) root["plans"].push_back(to_json(team));
  return root;
}

std::optional<NearestPair> nearest_pair(const json& profile) try {
  for (const json& latency : profile.at("latencies")) {
    if (latency.at("class") == level_name(Level::kCore) || latency.at("pairs").empty()) continue;
    const json& pair = latency.at("pairs").front();
    return NearestPair{{pair.at("cpus").at(0), pair.at("cpus").at(1)},
                       {quartiles_in(pair.at("store_ns")), quartiles_in(pair.at("paused_ns")),
                        quartiles_in(pair.at("cas_ns"))},
                       profile.at("pause_ns")};
  }
  return std::nullopt;
} catch (const json::exception&) {
  return std::nullopt;
}

}  // namespace hierbar

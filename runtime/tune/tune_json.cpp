// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>

#include "../include/hierbar/hierbar.h"
#include "plan/export/plan_text.hpp"
#include "tune/tune_report.hpp"

namespace hierbar {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json to_json(const Quartiles& quartiles) {
  return {{"lower", quartiles.lower}, {"median", quartiles.median}, {"upper", quartiles.upper}};
}

Quartiles quartiles_in(const json& object) { return {object.at("lower"), object.at("median"), object.at("upper")}; }

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
    entry["shape"] = ordered_json{{"leaders", leaders_json(plan.num_leaders)}, {"release", release_name(plan.release)}};
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
  for (const LatencyClass& latency : report.latencies) root["latencies"].push_back(to_json(latency));
  for (const TunedTeam& team : report.teams) root["plans"].push_back(to_json(team));
  return root;
}

std::optional<NearestPair> nearest_pair(const json& profile) try {
  for (const json& latency : profile.at("latencies")) {
    if (latency.at("class") == level_name(Level::kCore) || latency.at("pairs").empty()) continue;
    const json& pair = latency.at("pairs").front();
    return NearestPair{{pair.at("cpus").at(0), pair.at("cpus").at(1)},
                       {quartiles_in(pair.at("store_ns")), quartiles_in(pair.at("paused_ns")), quartiles_in(pair.at("cas_ns"))},
                       profile.at("pause_ns")};
  }
  return std::nullopt;
} catch (const json::exception&) {
  return std::nullopt;
}

}  // namespace hierbar

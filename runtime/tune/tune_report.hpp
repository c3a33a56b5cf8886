// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tune/tune.hpp"

namespace hierbar {

// The report as a profile: what plans read (plan/profile.hpp), and all that was measured. All times
// are in ns.
//
//   {"format", "hierbar", "machine": {"cpu", "shape"}, "pause_ns",
//    "latencies": [{"class",
//                   "pairs": [{"cpus": [a, b],
//                              "store_ns", "paused_ns", "cas_ns": QUARTILES}]}],
//    "plans": [{"participants", "cores", "domains",
//               "shape": "default" | {"leaders": number | "auto", "release"},
//               "verdict",
//               "rivals": [{"leaders", "release", "actual_leaders", "depth",
//                           "period_ns": QUARTILES, "ratio": QUARTILES}],
//               "best": index in rivals | null, "turns",
//               "best_ratio": QUARTILES, "noise_ratio": QUARTILES}]}
//   QUARTILES: {"lower", "median", "upper"}
nlohmann::ordered_json to_json(const TuneReport& report);

// The first pair of the nearest class of such a file whose cpus are on different cores. Two threads
// near each other communicate as this pair does.
struct NearestPair {
  CpuPair cpus;
  OneWay one_way;
  double pause_ns = 0;
};
std::optional<NearestPair> nearest_pair(const nlohmann::json& profile);

// The report as lines for people.
std::vector<std::string> describe(const TuneReport& report);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tune/tune.hpp"

namespace hierbar {

// The report as a profile: what plans read (see plan/profile.hpp) and, beside it, all that was measured. ns throughout.
//
//   {"format", "hierbar", "machine": {"cpu", "shape"}, "pause_ns",
//    "latencies": [{"class", "pairs": [{"cpus": [a, b], "store_ns", "paused_ns", "cas_ns": QUARTILES}]}],
//    "plans": [{"participants", "cores", "domains", "shape": "default" | {"leaders": number | "auto", "release"}, "verdict",
//               "rivals": [{"leaders", "release", "actual_leaders", "depth", "period_ns": QUARTILES, "ratio": QUARTILES}],
//               "best": position in rivals | null, "turns", "best_ratio": QUARTILES, "noise_ratio": QUARTILES}]}
//   QUARTILES: {"lower", "median", "upper"}
nlohmann::ordered_json to_json(const TuneReport& report);

// The nearest pair of two cores in such a file: what a team of two near each other works with.
struct NearestPair {
  CpuPair cpus;
  OneWay one_way;
  double pause_ns = 0;
};
std::optional<NearestPair> nearest_pair(const nlohmann::json& profile);

// The same for people.
std::vector<std::string> describe(const TuneReport& report);

}  // namespace hierbar

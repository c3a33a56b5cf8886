// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/host.hpp"
#include "omp/options.hpp"
#include "omp/results.hpp"
#include "omp/targets.hpp"

// What people and programs read. All return text; nothing is measured here.
namespace hierbar::bench {

// Machine, build, settings, libraries.
[[nodiscard]] std::string header_text(const Options& options, const Host& host, const std::vector<Configuration>& configurations);

// One table per group: median, quartiles, ratio to the reference, floors, regime.
[[nodiscard]] std::string groups_text(const Results& results, const Options& options);

// One table per construct: a row per configuration, a column per team size.
[[nodiscard]] std::string overview_text(const Results& results, const Options& options);

// Everything above and the raw samples.
[[nodiscard]] nlohmann::json json_report(const Results& results, const Options& options, const Host& host,
                                         const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench

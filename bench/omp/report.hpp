// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/common/host.hpp"
#include "bench/omp/options.hpp"
#include "bench/omp/results.hpp"
#include "bench/omp/targets.hpp"

// The output for people and programs. All functions return text or JSON; none measures.
namespace hierbar::bench {

// Machine, build, settings, libraries.
[[nodiscard]] std::string header_text(const OmpBenchOptions& options, const Host& host,
                                      const std::vector<Configuration>& configurations);

// A table for each group: median, quartiles, ratio to the reference, floors, regime.
[[nodiscard]] std::string groups_text(const Results& results, const OmpBenchOptions& options);

// A table for each construct: a row for each configuration, a column for each team size.
[[nodiscard]] std::string overview_text(const Results& results, const OmpBenchOptions& options);

// All of the above, and the raw samples.
[[nodiscard]] nlohmann::json json_report(const Results& results, const OmpBenchOptions& options, const Host& host,
                                         const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/judge.hpp"
#include "bench/runtimes/omp/configuration.hpp"
#include "bench/runtimes/omp/options.hpp"

// The parts of omp_barrier_bench. Only measure() measures, the others return text, JSON or
// verdicts.
namespace hierbar::bench::omp {

// Machine, build, settings, libraries.
[[nodiscard]] std::string header_text(const OmpBenchOptions& options, const Host& host,
                                      const std::vector<OmpConfiguration>& configurations);

// Measures everything that `options` ask for, as Session (bench/runtimes/session.hpp) says. A part
// is a team size and a construct. The order of the turns is rotated from repetition to repetition.
[[nodiscard]] Measurements measure(const OmpBenchOptions& options, const Host& host,
                                   const std::vector<OmpConfiguration>& configurations);

// Whether the targets that the project has set itself are met: a verdict for each that applies to
// the team sizes, constructs and settings of the run.
[[nodiscard]] std::vector<Verdict> judge(const Measurements& measurements,
                                         const OmpBenchOptions& options, int num_cpus);

// A table for each group: median, quartiles, ratio to the reference, floors, regime. Then one for
// each construct: a row for each configuration, a column for each team size.
[[nodiscard]] std::string tables_text(const Measurements& measurements,
                                      const OmpBenchOptions& options);

// All of the above, and the raw samples.
[[nodiscard]] nlohmann::json json_report(const Measurements& measurements,
                                         const OmpBenchOptions& options, const Host& host,
                                         const std::vector<OmpConfiguration>& configurations,
                                         const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench::omp

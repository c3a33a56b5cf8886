// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "bench/common/report/judge.hpp"
#include "bench/omp/options.hpp"
#include "bench/omp/results.hpp"

// Decides by one run whether the targets that the project has set itself are met.
namespace hierbar::bench {

// A verdict for each target that applies to the team sizes, constructs and settings of the run.
[[nodiscard]] std::vector<Verdict> judge(const Results& results, const OmpBenchOptions& options, int num_cpus);

}  // namespace hierbar::bench

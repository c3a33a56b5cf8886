// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "omp/options.hpp"
#include "omp/results.hpp"

// The targets that the project has set itself, judged by one run.
namespace hierbar::bench {

enum class Outcome : std::uint8_t { kPass, kFail, kNotMeasured };

struct Verdict {
  std::string what;  // "barrier, 2 threads: hier / best stock libomp (linear)"
  Outcome outcome = Outcome::kNotMeasured;
  std::optional<double> value;  // a ratio, unless `what` says otherwise
  double limit = 0;             // value must not be above it
  std::string note;             // the spread, or why nothing was measured
};

// One verdict per target that applies to the team sizes, constructs and settings of the run.
[[nodiscard]] std::vector<Verdict> judge(const Results& results, const Options& options, int num_cpus);

}  // namespace hierbar::bench

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/quartiles.hpp"
#include "base/result.hpp"

namespace hierbar {

// Quartiles of the wall-clock times in which a shell runs each line, in seconds.
struct TimedRuns {
  std::vector<Quartiles> seconds;
};

// Runs each line `num_rounds` times: all of them once, then all again in the reverse order, and so
// on, so that what changes on the machine meanwhile hits all alike. Their output goes to stderr.
// `progress` is told before each run. Errors: a line fails; it is named with its exit status.
Result<TimedRuns> time_lines(const std::vector<std::string>& lines, std::uint32_t num_rounds,
                             const std::function<void(std::uint32_t done, std::uint32_t all)>& progress);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "bench/model/machine/parameters.hpp"
#include "topology/machine.hpp"

namespace hierbar::bench::model {

// By distance, in ns. Empty if the matrix has no such pair.
using LatencyMedians = std::array<std::optional<double>, kNumDistances>;

// Reads a matrix in CSV, and returns the medians by distance. Row i belongs to cpu i of the
// machine. Fields may be empty: one triangle is enough. Errors: the file cannot be read; there are
// fewer than two rows; the machine lacks the cpu of a row; a field is not a latency; a row is
// longer than the number of rows.
Result<LatencyMedians> read_latency_matrix(const std::string& path, const Machine& machine);

}  // namespace hierbar::bench::model

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <optional>
#include <string>

#include "model/parameters.hpp"
#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar::bench::model {

// By distance, ns; empty where the matrix has no such pair.
using LatencyMedians = std::array<std::optional<double>, kNumDistances>;

// The medians of a matrix in CSV by the distances of the machine's cpus, which are numbered as its rows are. Fields may be empty:
// one triangle is enough. Errors: the file cannot be read, a field is no number, a row is longer than the matrix has rows.
Result<LatencyMedians> read_latency_matrix(const std::string& path, const Machine& machine);

}  // namespace hierbar::bench::model

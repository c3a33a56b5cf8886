// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "common/host.hpp"
#include "omp/configuration.hpp"
#include "omp/options.hpp"
#include "omp/results.hpp"

namespace hierbar::bench {

// Measures everything that `options` ask for, with progress on stderr.
//
// 1. Groups (one team size, one construct) are gone through once per repetition, so that a group is spread over the whole run.
// 2. A block, one group in one repetition, runs every configuration and the floors once, one process each and one after the
// other,
//    in an order that is rotated from repetition to repetition.
// 3. The distance of the cpus is measured between any two blocks. Blocks in which it changed are dropped and repeated, as often
// as
//    the options allow.
// A configuration that fails in a group is not tried again in that group; the row says why.
[[nodiscard]] Results measure(const Options& options, const Host& host, std::vector<Configuration> configurations);

}  // namespace hierbar::bench

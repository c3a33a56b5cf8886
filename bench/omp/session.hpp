// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "bench/common/host.hpp"
#include "bench/omp/configuration.hpp"
#include "bench/omp/options.hpp"
#include "bench/omp/results.hpp"

namespace hierbar::bench {

// Measures everything that `options` ask for, with progress on stderr:
//
// 1. In each repetition, goes through all groups (a team size and a construct). So each group is
//    spread over the whole run.
// 2. A block is one group in one repetition. It runs every configuration and the floors once, one
//    after the other, each in a process of its own. Their order is rotated from repetition to
//    repetition.
// 3. Measures the distance of the cpus between any two blocks. Blocks in which it changed are
//    dropped and repeated, as often as the options allow.
//
// A configuration that fails in a group is not tried again in that group. Its row says why.
[[nodiscard]] Results measure(const OmpBenchOptions& options, const Host& host, std::vector<Configuration> configurations);

}  // namespace hierbar::bench

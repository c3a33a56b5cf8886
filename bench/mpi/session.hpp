// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "common/groups.hpp"
#include "common/host.hpp"
#include "mpi/configuration.hpp"
#include "mpi/options.hpp"

namespace hierbar::bench::mpi {

// Measures everything that `options` ask for, with progress on stderr.
//
// 1. Numbers of ranks are gone through once per repetition, so that each is spread over the whole run.
// 2. A block, one number of ranks in one repetition, launches every configuration and measures the floors once, one after the
//    other, in random order. One launch gives all quantities: the groups of one number of ranks have the same blocks.
// 3. The distance of the cpus is measured between any two blocks. Blocks in which it changed are dropped and repeated, as often
//    as the options allow.
// Where each rank has a cpu, launches of hier also measure the MPI library's own barrier, in turns with ours. Where ranks
// outnumber the cpus, the one would leave the scheduler in a state that the other suffers from for many milliseconds. A
// configuration that fails with some number of ranks is not tried again with it; the row says why.
[[nodiscard]] Measurements measure(const Options& options, const Host& host, const std::vector<Configuration>& configurations);

}  // namespace hierbar::bench::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/mpi/configuration.hpp"
#include "bench/mpi/options.hpp"

namespace hierbar::bench::mpi {

// Measures everything that `options` ask for, with progress on stderr:
//
// 1. In each repetition, goes through all numbers of ranks. So each number is spread over the whole
//    run.
// 2. A block is one number of ranks in one repetition. It launches every configuration and measures
//    the floors once, one after the other, in random order. One launch gives all quantities, so the
//    groups of one number of ranks have the same blocks.
// 3. Measures the distance of the cpus between any two blocks. Blocks in which it changed are
//    dropped and repeated, as often as the options allow.
//
// If each rank has a cpu, launches of hier also measure the MPI library's own barrier, in turns
// with ours. If ranks outnumber the cpus, they do not: the library's barrier would leave the
// scheduler in a state that slows down ours for many milliseconds (docs/design/testing.md#d0072). A
// configuration that fails with some number of ranks is not tried again with it. Its row says why.
[[nodiscard]] Measurements measure(const MpiBenchOptions& options, const Host& host,
                                   const std::vector<Configuration>& configurations);

}  // namespace hierbar::bench::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <vector>

#include "bench/common/decode_graph.hpp"

namespace hierbar::bench {

// Measures a decode without any runtime: plain threads, each pinned to its own entry of `cpus` (two
// at least), with a spin barrier after each operation. It is a peer of OpenMP's barriers, because
// inference programs without OpenMP have such a barrier of their own.
[[nodiscard]] DecodeSamples measure_spin_decode(const std::vector<int>& cpus,
                                                std::chrono::nanoseconds budget,
                                                const DecodeGraph& graph);

}  // namespace hierbar::bench

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// Ways to bind the ranks of a node that people compare: those of S. P. Kopysov, A. K. Novikov, L. E. Tonkov, D. V. Beresnev,
// "Methods of binding parallel processes and threads to multicore nodes" (2009), table 1, of which most go by these names in
// launchers too, and the one that this project recommends. The paper binds a rank to one core; here a rank gets as many cores
// (cpus) as it has threads, which is the cure that the paper finds for hybrid programs.
enum class Pattern : std::uint8_t { kShare, kPacked, kAlternating, kPairs, kSockets, kCores, kThreads, kRank };

struct PatternText {
  Pattern pattern;
  const char* name;
  const char* meaning;  // one line
};

// All of them, the recommended one first.
const std::vector<PatternText>& all_patterns();
std::optional<Pattern> parse_pattern(std::string_view name);
const char* pattern_name(Pattern pattern);

// The cpus of each rank under the pattern, out of `pool`, for ranks that will run threads[i] threads each; no number is 0.
//
// Pattern::kShare is share_out(). The others give a rank what its pattern says, from the next package in turn that has enough of
// it left, else from several. Cores come before hardware threads of a core that is in use already. When all cpus are given out it
// starts again from the first, so that more threads than cpus share them evenly.
//
// Errors: an empty pool; those of share_out() for kShare.
Result<std::vector<CpuSet>> place_ranks(Pattern pattern, const Machine& machine, const CpuSet& pool,
                                        const std::vector<std::uint32_t>& threads);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// Ways to bind the ranks of a node that people compare, and the way that this project recommends.
// They are those of S. P. Kopysov, A. K. Novikov, L. E. Tonkov, D. V. Beresnev, "Methods of binding
// parallel processes and threads to multicore nodes" (2009), table 1. Launchers use most of these
// names, too. The paper binds a rank to one core. Here a rank gets as many cores (cpus) as it has
// threads, which is what the paper recommends for hybrid programs.
//
// kSwapped, kEnds and kHalves are the table's b4, b5 and b7. Packed is its b, alternating its c and
// b6, pairs its b2.
enum class Pattern : std::uint8_t {
  kShare,
  kPacked,
  kAlternating,
  kSwapped,
  kPairs,
  kEnds,
  kHalves,
  kSockets,
  kCores,
  kThreads,
  kRank
};

struct PatternText {
  Pattern pattern;
  const char* name;
  const char* meaning;  // one line
};

// All of them, the recommended one first.
const std::vector<PatternText>& all_patterns();
std::optional<Pattern> parse_pattern(std::string_view name);
const char* pattern_name(Pattern pattern);

// The cpus of each rank under the pattern, out of `pool`. Rank i will run threads[i] threads, at
// least one.
//
// Pattern::kShare is share_out(). The others take what the pattern asks for from the packages in
// turn: from the next package that has enough left, or else from several. Cores are taken before
// hardware threads of a core that is in use already. When all cpus are given out, it starts again
// with the first, so that threads share the cpus evenly if there are more of them.
//
// Errors: an empty pool; for kShare those of share_out().
Result<std::vector<CpuSet>> place_ranks(Pattern pattern, const Machine& machine, const CpuSet& pool,
                                        const std::vector<std::uint32_t>& threads);

}  // namespace hierbar

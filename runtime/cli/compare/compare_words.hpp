// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "cli/compare/compared_runs.hpp"
#include "cli/compare/paired_ratios.hpp"

namespace hierbar {

// What the figures are.
struct FigureKind {
  bool is_own = false;  // the program's own, without a unit; else seconds
  bool larger_is_better = false;
};

// The way's figures by those of another way, round by round.
PairedRatio ratio_of(const WayRuns& way, const WayRuns& base);

// "faster, 0.86 of its time (0.83 to 0.88, 9 pairs)", or that there is no difference. `whose` time
// it is a part of: "its", "libomp's".
std::string describe(const PairedRatio& ratio, const FigureKind& kind, const std::string& whose);

// "hierbar, 4 threads"; the team size only where several are compared.
std::string label(const Way& way);

// A line for each way: its median and quartiles, and how much cpu time it took.
std::vector<std::string> describe_ways(const CompareRequest& request, const Comparison& comparison,
                                       const FigureKind& kind);

// Of the ways with one name, which differ in team size, the one with the best median.
struct BestWay {
  std::size_t way = 0;
  std::vector<std::uint32_t> as_good;  // other team sizes that do not differ beyond the noise
};

// Requires a complete round and a way of that name.
BestWay find_best(const CompareRequest& request, const Comparison& comparison,
                  const FigureKind& kind, const std::string& name);

// "best hierbar: 4 threads, 0.52 s; 8 are as good"
std::string describe(const BestWay& best, const CompareRequest& request,
                     const Comparison& comparison, const FigureKind& kind);

// In what the outputs of a way and of the program as it is differ; empty: in nothing.
std::string describe(const OutputDifference& difference, const std::string& way);

// How a run failed, with what it printed last.
std::string describe(const FailedRun& failure, const CompareRequest& request);

// What makes the figures doubtful: a disturbed machine, outliers, few pairs, a very short program.
std::vector<std::string> find_doubts(const CompareRequest& request, const Comparison& comparison);

// "1.234 s", "12.3 ms"; a figure of the program's own as it is.
std::string figure_text(double figure, const FigureKind& kind);

// "2,000"
std::string grouped(std::uint64_t number);

}  // namespace hierbar

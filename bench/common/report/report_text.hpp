// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/others.hpp"
#include "bench/common/report/judge.hpp"

// The common part of the benchmarks' text reports.
namespace hierbar::bench {

// ns, with one decimal below 1000.
[[nodiscard]] std::string number(double ns);

// Two decimals; more if two would show only zeros.
[[nodiscard]] std::string ratio_text(double ratio);

// The same, or the word that says why it means nothing; "-" if there is none.
[[nodiscard]] std::string ratio_cell(const Group& group, const std::optional<Ratio>& ratio);

// "6 repetitions, 2 more dropped: others used the cpus, or the regime changed"; and if nothing else
// could be kept, how much others took.
[[nodiscard]] std::string repetitions_text(const Group& group);

// "0.39 .. 0.44"
[[nodiscard]] std::string spread_text(const Ratio& ratio);

// The lines about the machine.
[[nodiscard]] std::string host_text(const Host& host);

// How much others used the machine, as a sentence, and a warning if it was much.
[[nodiscard]] std::string disturbance_text(const Disturbance& disturbance);

// How the run went: regimes, repetitions, time, and how much others used the machine.
[[nodiscard]] std::string run_text(const Measurements& measurements, int asked_repetitions,
                                   double time_limit_s);

[[nodiscard]] std::string verdicts_text(const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/judge.hpp"

// The common part of the benchmarks' text reports.
namespace hierbar::bench {

// ns, with one decimal below 1000.
[[nodiscard]] std::string number(double ns);

// Two decimals; more if two would show only zeros.
[[nodiscard]] std::string ratio_text(double ratio);

// "0.39 .. 0.44"
[[nodiscard]] std::string spread_text(const Ratio& ratio);

// The lines about the machine.
[[nodiscard]] std::string host_text(const Host& host);

// How the run went: regimes, repetitions, time, and how much others used the machine.
[[nodiscard]] std::string run_text(const Measurements& measurements, int asked_repetitions, double time_limit_s);

[[nodiscard]] std::string verdicts_text(const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench

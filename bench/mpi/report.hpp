// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/judge.hpp"
#include "bench/mpi/configuration.hpp"
#include "bench/mpi/options.hpp"

// The output for people and programs. All functions return text or JSON; none measures.
namespace hierbar::bench::mpi {

// Machine, build, settings and libraries; what is skipped, and why.
[[nodiscard]] std::string header_text(const MpiBenchOptions& options, const Host& host,
                                      const std::vector<Configuration>& configurations);

// A part for each number of ranks: the period with its quartiles and its ratio to hier's, the
// medians of the other figures, the floors.
[[nodiscard]] std::string table_text(const Measurements& measurements);

// All of the above, and the raw samples.
[[nodiscard]] nlohmann::json json_report(const Measurements& measurements, const MpiBenchOptions& options, const Host& host,
                                         const std::vector<Configuration>& configurations, const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench::mpi

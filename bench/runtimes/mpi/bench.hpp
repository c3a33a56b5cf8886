// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/judge.hpp"
#include "bench/runtimes/mpi/configuration.hpp"
#include "bench/runtimes/mpi/options.hpp"

// The parts of mpi_barrier_bench. Only measure() measures, the others return text, JSON or
// verdicts.
namespace hierbar::bench::mpi {

// Machine, build, settings and libraries; what is skipped, and why.
[[nodiscard]] std::string header_text(const MpiBenchOptions& options, const Host& host,
                                      const std::vector<MpiConfiguration>& configurations);

// Measures everything that `options` ask for, as Session (bench/runtimes/session.hpp) says. A part
// is a number of ranks: one launch gives all quantities. The order of the turns is random.
//
// If each rank has a cpu, launches of hier also measure the MPI library's own barrier, in turns
// with ours. If ranks outnumber the cpus, they do not: the library's barrier would leave the
// scheduler in a state that slows down ours for many milliseconds (docs/design/testing.md#d0072).
[[nodiscard]] Measurements measure(const MpiBenchOptions& options, const Host& host,
                                   const std::vector<MpiConfiguration>& configurations);

// Whether the targets that the project has set itself for MPI_Barrier are met: a verdict for each
// that applies to the numbers of ranks of the run.
[[nodiscard]] std::vector<Verdict> judge(const Measurements& measurements,
                                         const MpiBenchOptions& options, int num_cpus);

// A part for each number of ranks: the period with its quartiles and its ratio to hier's, the
// medians of the other figures, the floors.
[[nodiscard]] std::string tables_text(const Measurements& measurements,
                                      const MpiBenchOptions& options);

// All of the above, and the raw samples.
[[nodiscard]] nlohmann::json json_report(const Measurements& measurements,
                                         const MpiBenchOptions& options, const Host& host,
                                         const std::vector<MpiConfiguration>& configurations,
                                         const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench::mpi

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/groups.hpp"
#include "bench/common/host.hpp"
#include "bench/common/report/judge.hpp"
#include "bench/runtimes/mpi/configuration.hpp"
#include "bench/runtimes/mpi/options.hpp"

// The parts of mpi_barrier_bench, and of mpi_collective_bench where it differs. Only measure()
// measures, the others return text, JSON or verdicts.
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

// ---- mpi_collective_bench ----

// What MPI_Barrier is called among the quantities, the first of each number of ranks.
inline constexpr std::string_view kBarrierQuantity = "barrier";

inline constexpr const char* kOwnBarrier = "hier, MPI_Barrier";
// A group with that row: hier's MPI_Barrier, out of the group `barriers` of the same processes. The
// group itself, if it is of barriers or there are none.
[[nodiscard]] Group add_own_barrier(Group group, const Group& barriers);

[[nodiscard]] Measurements measure(const CollectiveBenchOptions& options, const Host& host,
                                   const std::vector<MpiConfiguration>& configurations);
[[nodiscard]] std::vector<Verdict> judge(const Measurements& measurements,
                                         const CollectiveBenchOptions& options, int num_cpus);
// A table for each quantity of each number of ranks, with our MPI_Barrier as one of the rows.
[[nodiscard]] std::string tables_text(const Measurements& measurements,
                                      const CollectiveBenchOptions& options);
[[nodiscard]] nlohmann::json json_report(const Measurements& measurements,
                                         const CollectiveBenchOptions& options, const Host& host,
                                         const std::vector<MpiConfiguration>& configurations,
                                         const std::vector<Verdict>& verdicts);

}  // namespace hierbar::bench::mpi

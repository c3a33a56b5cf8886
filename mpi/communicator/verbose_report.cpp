// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/communicator/verbose_report.hpp"

#include <algorithm>
#include <string>

#include "mpi/library/library_name.hpp"
#include "mpi/library/progress.hpp"
#include "mpi/settings/message.hpp"

namespace hierbar::mpi {
namespace {

bool is_library(Route route) { return route != Route::kEngine && route != Route::kBaseline; }

std::string describe(const Counts& counts) {
  std::uint64_t passed = 0;
  std::string reasons;
  for (std::size_t route = 0; route < kNumRoutes; ++route) {
    if (!is_library(static_cast<Route>(route)) || counts[route] == 0) continue;
    passed += counts[route];
    reasons +=
        (reasons.empty() ? " (" : ", ") + std::string(name_of(static_cast<Route>(route))) + " " + std::to_string(counts[route]);
  }
  const std::uint64_t engine = counts[static_cast<std::size_t>(Route::kEngine)];
  const std::uint64_t baseline = counts[static_cast<std::size_t>(Route::kBaseline)];
  return "engine " + std::to_string(engine) + (baseline == 0 ? "" : ", baseline " + std::to_string(baseline)) + ", library " +
         std::to_string(passed) + reasons + (reasons.empty() ? "" : ")");
}

}  // namespace

void print_report(const Pmpi& pmpi, const Counts& counts, int rank, bool together) {
  Counts sum = counts;
  int num_ranks = 1;
  if (together) {
    ask([&] { return pmpi.Comm_size(pmpi.comm_world, &num_ranks); });
    const int status =
        pmpi.Reduce(counts.data(), sum.data(), static_cast<int>(kNumRoutes), pmpi.uint64, pmpi.sum, 0, pmpi.comm_world);
    if (rank == 0 && status != MPI_SUCCESS) {
      sum = counts;
      together = false;
    }
  }
  if (rank == 0)
    print_line("library: " + library_name(pmpi.Get_library_version) + " (" + pmpi.file + "), progress by " + progress_name());
  if (rank != 0 && together) return;
  print_line("barriers of " + (together ? std::to_string(num_ranks) + " ranks: " : "rank " + std::to_string(rank) + ": ") +
             describe(sum));
  const bool none = std::all_of(sum.begin(), sum.end(), [](std::uint64_t count) { return count == 0; });
  if (rank != 0 || !none) return;
  print_line(
      "no MPI_Barrier came here: the program calls none, or its calls are bound to the MPI library's own (RTLD_DEEPBIND, "
      "dlvsym()), or a tool looks for that behind this library (RTLD_NEXT) and does not call PMPI_Barrier");
}

void print_rest(const Counts& counts, int rank) {
  print_line("barriers of rank " + std::to_string(rank) + " behind the report: " + describe(counts));
}

}  // namespace hierbar::mpi

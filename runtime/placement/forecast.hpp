// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "topology/machine.hpp"
#include "topology/result.hpp"

namespace hierbar {

// The OpenMP team that a process would get in its first parallel region, and where.
struct Team {
  std::uint32_t num_threads = 1;
  bool is_bound = false;     // threads have places; else each may use all cpus of the process
  std::vector<CpuSet> cpus;  // of each thread
  CpuSet foreign;            // cpus that OMP_PLACES names and the process may not use: runtimes leave them out
  std::string problem;       // what was not understood, one line; empty if all was
};

// From the variables of OpenMP for a process that may run on `mask`: OMP_NUM_THREADS (its first number), OMP_PLACES,
// OMP_PROC_BIND. Without OMP_NUM_THREADS a team has a thread for each cpu, as in libomp and libgomp. Places alone mean spread, as
// in libomp. Abstract places are taken from the machine, cut down to the mask. What a runtime does by itself beyond these
// variables is not foreseen. `mask` holds a cpu of the machine.
Team forecast_team(const Machine& machine, const CpuSet& mask, const Environment& environment);

// An explicit list for OMP_PLACES: "{0,1},{2,3}", "{0:4}:2:8". Errors: anything else; exclusion with '!', which is not
// understood; a cpu of a number from kMaxMachineCpus on; more than 8192 places, or 1048576 cpus in all of them together.
Result<std::vector<CpuSet>> parse_places(std::string_view text);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/variables.hpp"
#include "topology/machine.hpp"

namespace hierbar {

// The OpenMP team that a process would get in its first parallel region, and the cpus of its
// threads.
struct TeamShape {
  std::uint32_t num_threads = 1;
  // Threads have places. Otherwise each may use all cpus of the process.
  bool is_bound = false;
  // Of each thread.
  std::vector<CpuSet> cpus;
  // Cpus that OMP_PLACES names and the process may not use. Runtimes leave them out.
  CpuSet foreign;
  // What was not understood, in one line; empty if everything was.
  std::string problem;
};

// Predicts the team from OpenMP's variables OMP_NUM_THREADS (its first number), OMP_PLACES and
// OMP_PROC_BIND, for a process that may run on `mask`. `mask` must have a cpu of the machine.
//
// Without OMP_NUM_THREADS a team has a thread for each cpu, as in libomp and libgomp. OMP_PLACES
// alone means spread, as in libomp. Places by name are those of the machine, reduced to the mask.
// What a runtime does besides is not predicted.
TeamShape predict_team(const Machine& machine, const CpuSet& mask, const Environment& environment);

// Reads an explicit list for OMP_PLACES: "{0,1},{2,3}", "{0:4}:2:8". Errors: anything else;
// exclusion by '!', which is not supported; a cpu number from kMaxMachineCpus on; more than 8192
// places, or more than 1048576 cpus in all of them together.
Result<std::vector<CpuSet>> parse_places(std::string_view text);

}  // namespace hierbar

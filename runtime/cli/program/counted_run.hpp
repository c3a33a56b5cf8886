// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "cli/program/program.hpp"

namespace hierbar {

// Barriers of a program's processes on this node: those that hierbar served, and those that went to
// the library's own. The processes are those that ended normally and had loaded hierbar's library.
struct ServedBarriers {
  struct Count {
    std::uint32_t num_processes = 0;
    std::uint64_t num_served = 0;
    std::uint64_t num_others = 0;
  };
  Count openmp;
  Count mpi;
  Count mpi_allreduces;  // with HIERBAR_MPI=collectives; its processes are those of `mpi`
  std::string other_runtime;  // an OpenMP runtime that a process has loaded beside hierbar's
};

struct CountedRun {
  int exit_code = 0;  // the program's, or 128 and the number of the signal that ended it
  int signal = 0;     // that number; 0 if it ended by itself
  ServedBarriers barriers;
};

// Runs the program as a child of this process, waits for its end, and reads the counts from a
// temporary file (see base/served_file.hpp). Signals that ask this process to end are passed
// on.
Result<CountedRun> run_and_count(const Program& program);

}  // namespace hierbar

// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "base/environment.hpp"

namespace hierbar {

// Where a launcher of parallel programs says what: the variables that it gives to each rank before
// MPI_Init, and what its own processes are called.
struct Launcher {
  const char* name;
  const char* mark;                        // set by this launcher and, if by others too, by those above it in the table
  std::vector<const char*> rank;           // in the whole job: the first that is set
  const char* local_rank;                  // on the node; null: it does not say
  const char* local_size;                  // ranks on the node; null: not in one variable
  std::vector<const char*> job_id;         // joined with dots; none: the launcher's process stands for the job
  std::vector<const char*> process_names;  // of what it runs on each node, as the kernel cuts them
};

// All that are known. Launchers start each other and their variables are inherited, so inner ones
// come first. One that is none of these but uses PMIx ends the table.
const std::vector<Launcher>& known_launchers();

// Whether its variables are there. Those of an outer launcher may be there as well.
bool has_variables_of(const Launcher& launcher, const Environment& environment);

// This process's rank in the whole job, as the innermost launcher wrote it; null if none did. A
// variable for the rank counts also where the launcher's others are missing, behind all others.
const char* rank_in_job(const Environment& environment);

// The same, of one launcher.
const char* rank_in_job(const Environment& environment, const Launcher& launcher);

}  // namespace hierbar

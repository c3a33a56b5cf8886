// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "base/environment.hpp"

namespace hierbar {

// What is known about a launcher of parallel programs: the variables that it sets for each rank
// before MPI_Init, and the names of its own processes.
struct Launcher {
  const char* name;
  // A variable that this launcher sets. Order matters: a launcher that also sets it must come
  // earlier in the table.
  const char* mark;
  // Variables for the rank in the whole job. The first one that is set counts.
  std::vector<const char*> rank;
  // The rank on the node; null when the launcher does not tell it.
  const char* local_rank;
  // The number of ranks on the node; null when no single variable tells it.
  const char* local_size;
  // Their values, joined with dots, name the job. When there are none, the launcher's process does.
  std::vector<const char*> job_id;
  // What the launcher runs on each node, by the names to which the kernel shortens them.
  std::vector<const char*> process_names;
};

// All launchers that are known. Launchers start each other and their variables are inherited, so
// inner ones come first. The last entry stands for any other launcher that uses PMIx.
const std::vector<Launcher>& known_launchers();

// Whether the launcher's variables are set. Those of an outer launcher may be set as well.
bool has_variables_of(const Launcher& launcher, const Environment& environment);

// This process's rank in the whole job, as the innermost launcher wrote it; null when none did.
// Launchers whose mark and local rank are set are asked first. If none of them gives a rank, a rank
// variable counts even where the launcher's other variables are missing.
const char* rank_in_job(const Environment& environment);

// The same for one launcher.
const char* rank_in_job(const Environment& environment, const Launcher& launcher);

}  // namespace hierbar

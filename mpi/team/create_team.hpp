// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <string>

#include "mpi/barrier/comm_state.hpp"
#include "mpi/barrier/process_state.hpp"
#include "mpi/team/teams.hpp"

namespace hierbar::mpi {

struct TeamRequest {
  int num_threads;
  // All threads may call MPI at the same time, whatever level it provides.
  bool is_threaded;
  // For messages: what the program has called, what happens where the engine cannot be used, and
  // the name of the communicator that it knows.
  const char* function;
  const char* consequence;
  std::string comm_name;
};

// Collective over `comm`, an intracommunicator. `state` is what its set-up has found; null with
// HIERBAR_MPI=off, which all ranks then have. `team` may be null, which is an error in all ranks.
int create_team(ProcessState& process, const Pmpi& pmpi, MPI_Comm comm, const CommState* state,
                const TeamRequest& request, Teams::Handle* team);

// hierbar_team_free(). Local, but where ranks of several nodes meet on a communicator of ours.
int free_team(ProcessState& process, const Pmpi& pmpi, Teams::Handle* team);

}  // namespace hierbar::mpi

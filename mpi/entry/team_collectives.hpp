// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include "mpi/team/team.hpp"

namespace hierbar::mpi {

// hierbar_team_allreduce() and hierbar_team_bcast(), for their entry points: arguments are checked,
// and cut into pieces. `caller` is the place in the program from which they are called.

struct TeamAllreduce {
  const void* in;  // may be MPI_IN_PLACE
  void* out;
  int count;
  MPI_Datatype type;
  MPI_Op op;
};
int call_in_team(HybridTeam& team, int thread, const TeamAllreduce& call, const void* caller);

struct TeamBcast {
  void* data;
  int count;
  MPI_Datatype type;
  int root_rank;
  int root_thread;
};
int call_in_team(HybridTeam& team, int thread, const TeamBcast& call, const void* caller);

}  // namespace hierbar::mpi

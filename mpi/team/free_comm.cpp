// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/team/free_comm.hpp"

#include "mpi/setup/process_state.hpp"
#include "mpi/team/teams.hpp"
#include "mpi/team/threadcomm.hpp"

namespace hierbar::mpi {
namespace {

// The library may refuse: because of the communicator, or because a user's delete callback fails,
// and that in one rank only. So nothing of the state goes before the communicator is gone
// (docs/decisions/0037).
int free_with_state(const Pmpi& pmpi, MPI_Comm* comm, CommState* state, int (*Pmpi::*free)(MPI_Comm*)) {
  ProcessState& process = ProcessState::get();
  const MPI_Comm freed = *comm;
  // Settling is collective, as freeing is. But a free of MPI_COMM_WORLD is an error that one rank
  // may make alone.
  const bool settles = state->trace != nullptr && !state->trace->is_empty() && freed != pmpi.comm_world;
  if (settles) state->trace->settle(pmpi, freed);
  process.set_aside(pmpi, freed, *state);
  const int status = (pmpi.*free)(comm);
  if (status == MPI_SUCCESS || *comm == pmpi.comm_null) {
    process.forget(pmpi, state);
  } else {
    process.put_back(pmpi, freed, *state);
  }
  return status;
}

}  // namespace

int free_comm(const Pmpi& pmpi, MPI_Comm* comm, int (*Pmpi::*free)(MPI_Comm*)) {
  if (comm == nullptr || *comm == pmpi.comm_null) return (pmpi.*free)(comm);
  const MPI_Comm freed = *comm;
  Teams::get().lose_comm(freed);
  CommState* state = nullptr;
  const bool has_state = ProcessState::get().find(pmpi, freed, state) && state != nullptr;
  const int status = has_state ? free_with_state(pmpi, comm, state, free) : (pmpi.*free)(comm);
  // This thread's only; the others free the same communicator of threads.
  if (status == MPI_SUCCESS) leave_seat(freed);
  return status;
}

}  // namespace hierbar::mpi

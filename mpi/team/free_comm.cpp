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
// (docs/design/mpi-calls.md#d0037).
int free_with_state(const Pmpi& pmpi, MPI_Comm* comm, CommState* state, int (*free)(MPI_Comm*)) {
  ProcessState& process = ProcessState::get();
  const MPI_Comm freed = *comm;
  settle_trace(*state, pmpi, freed);
  process.set_aside(pmpi, freed, *state);
  const int status = free(comm);
  if (status == MPI_SUCCESS || *comm == pmpi.comm_null) {
    process.forget(pmpi, state);
  } else {
    process.put_back(pmpi, freed, *state);
  }
  return status;
}

}  // namespace

int free_comm(const Pmpi& pmpi, MPI_Comm* comm, int (*free)(MPI_Comm*)) {
  if (comm == nullptr || *comm == pmpi.comm_null) return free(comm);
  const MPI_Comm freed = *comm;
  Teams::get().lose_comm(freed);
  CommState* state = nullptr;
  const int found = ProcessState::get().find(pmpi, freed, state);
  // The library has called an error handler.
  if (found != MPI_SUCCESS && is_error_of_comm(pmpi, found)) return found;
  const int status = state != nullptr ? free_with_state(pmpi, comm, state, free) : free(comm);
  // This thread's only; the others free the same communicator of threads.
  if (status == MPI_SUCCESS) leave_seat(freed);
  return status;
}

}  // namespace hierbar::mpi

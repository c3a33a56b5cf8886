// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs call instead of their MPI library: the C interface.

#include <mpi.h>

#include <memory>
#include <utility>

#include "mpi/barrier_call.hpp"
#include "mpi/shim.hpp"

using hierbar::mpi::Shim;

#define HIERBAR_EXPORT extern "C" __attribute__((visibility("default")))

HIERBAR_EXPORT int MPI_Barrier(MPI_Comm comm) { return hierbar::mpi::barrier(comm, __builtin_return_address(0)); }

namespace {

// The leaders' communicator is freed after the user's own, and where the program frees that: the call is collective there.
template <class Free>
int free_comm(MPI_Comm* comm, const void* caller, Free free) {
  const hierbar::mpi::Pmpi& pmpi = hierbar::mpi::find_pmpi(caller);
  Shim& shim = Shim::get();
  std::shared_ptr<hierbar::mpi::LeaderComm> leaders;
  if (shim.keyval() != MPI_KEYVAL_INVALID && comm != nullptr && *comm != MPI_COMM_NULL) {
    hierbar::mpi::CommState* state = nullptr;
    if (shim.find(pmpi, *comm, state) && state != nullptr) leaders = std::move(state->leaders);
  }
  const int status = (pmpi.*free)(comm);
  shim.leader_comms.release(pmpi, std::move(leaders));
  return status;
}

}  // namespace

HIERBAR_EXPORT int MPI_Comm_free(MPI_Comm* comm) {
  return free_comm(comm, __builtin_return_address(0), &hierbar::mpi::Pmpi::Comm_free);
}

HIERBAR_EXPORT int MPI_Comm_disconnect(MPI_Comm* comm) {
  return free_comm(comm, __builtin_return_address(0), &hierbar::mpi::Pmpi::Comm_disconnect);
}

HIERBAR_EXPORT int MPI_Finalize() {
  const hierbar::mpi::Pmpi& pmpi = hierbar::mpi::find_pmpi(__builtin_return_address(0));
  Shim::get().world_ends(pmpi);
  return pmpi.Finalize();
}

HIERBAR_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const hierbar::mpi::Pmpi& pmpi = hierbar::mpi::find_pmpi(__builtin_return_address(0));
  if (pmpi.Session_init == nullptr) return MPI_ERR_OTHER;
  const int status = pmpi.Session_init(info, handler, session);
  if (status == MPI_SUCCESS) Shim::get().session_begins();
  return status;
}

HIERBAR_EXPORT int MPI_Session_finalize(MPI_Session* session) {
  const hierbar::mpi::Pmpi& pmpi = hierbar::mpi::find_pmpi(__builtin_return_address(0));
  if (pmpi.Session_finalize == nullptr) return MPI_ERR_OTHER;
  Shim::get().session_ends(pmpi);
  return pmpi.Session_finalize(session);
}

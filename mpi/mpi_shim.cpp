// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs call instead of their MPI library: the C interface.

#include <mpi.h>

#include <memory>
#include <utility>

#include "mpi/barrier_call.hpp"
#include "mpi/entry.hpp"
#include "mpi/shim.hpp"

using hierbar::mpi::find_pmpi;
using hierbar::mpi::find_pmpi_unrecorded;
using hierbar::mpi::handle_in;
using hierbar::mpi::Pmpi;
using hierbar::mpi::Shim;
using hierbar::mpi::Word;

HIERBAR_ENTRY(int, MPI_Barrier, Word comm) {
  if (const Pmpi* const pmpi = find_pmpi_unrecorded(__builtin_return_address(0))) {
    return hierbar::mpi::barrier(*pmpi, handle_in<MPI_Comm>(comm));
  }
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Barrier, PMPI_Barrier, comm);
  return hierbar::mpi::recorded_barrier(*pmpi, handle_in<MPI_Comm>(comm), __builtin_return_address(0));
}

// Also in programs without barriers: they pay for nothing else.
HIERBAR_ENTRY(int, MPI_Abort, Word comm, int status) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Abort, PMPI_Abort, comm, status);
  Shim::get().recorder.abort(*pmpi);
  return pmpi->Abort(handle_in<MPI_Comm>(comm), status);
}

namespace {

// The leaders' communicator is freed after the user's own, and where the program frees that: the call is collective there.
template <class Free>
int free_comm(const Pmpi& pmpi, MPI_Comm* comm, Free free) {
  Shim& shim = Shim::get();
  std::shared_ptr<hierbar::mpi::LeaderComm> leaders;
  if (shim.keyval() != MPI_KEYVAL_INVALID && comm != nullptr && *comm != pmpi.comm_null) {
    hierbar::mpi::CommState* state = nullptr;
    if (shim.find(pmpi, *comm, state) && state != nullptr) {
      leaders = std::move(state->leaders);
      if (state->trace != nullptr && !state->trace->is_empty()) state->trace->settle(pmpi, *comm);
    }
  }
  const int status = (pmpi.*free)(comm);
  shim.leader_comms.release(pmpi, std::move(leaders));
  return status;
}

}  // namespace

HIERBAR_ENTRY(int, MPI_Comm_free, MPI_Comm* comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Comm_free, PMPI_Comm_free, comm);
  return free_comm(*pmpi, comm, &Pmpi::Comm_free);
}

HIERBAR_ENTRY(int, MPI_Comm_disconnect, MPI_Comm* comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Comm_disconnect, PMPI_Comm_disconnect, comm);
  return free_comm(*pmpi, comm, &Pmpi::Comm_disconnect);
}

HIERBAR_ENTRY(int, MPI_Finalize) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Finalize, PMPI_Finalize);
  Shim::get().world_ends(*pmpi);
  return pmpi->Finalize();
}

HIERBAR_ENTRY(int, MPI_Session_init, Word info, Word handler, MPI_Session* session) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Session_init, PMPI_Session_init, info, handler, session);
  if (pmpi->Session_init == nullptr) return MPI_ERR_OTHER;
  const int status = pmpi->Session_init(handle_in<MPI_Info>(info), handle_in<MPI_Errhandler>(handler), session);
  if (status == MPI_SUCCESS) Shim::get().session_begins();
  return status;
}

HIERBAR_ENTRY(int, MPI_Session_finalize, MPI_Session* session) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Session_finalize, PMPI_Session_finalize, session);
  if (pmpi->Session_finalize == nullptr) return MPI_ERR_OTHER;
  Shim::get().session_ends(*pmpi);
  return pmpi->Session_finalize(session);
}

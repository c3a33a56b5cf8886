// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface: the functions that programs call in place of their MPI library's.

#include <mpi.h>

#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/entry/raw_handle.hpp"
#include "mpi/setup/process_state.hpp"
#include "mpi/team/free_comm.hpp"
#include "mpi/team/teams.hpp"

using hierbar::mpi::find_pmpi;
using hierbar::mpi::find_pmpi_unrecorded;
using hierbar::mpi::free_comm;
using hierbar::mpi::handle_in;
using hierbar::mpi::Pmpi;
using hierbar::mpi::ProcessState;
using hierbar::mpi::RawHandle;
using hierbar::mpi::Teams;

HIERBAR_ENTRY(int, MPI_Barrier, RawHandle comm) {
  if (const Pmpi* const pmpi = find_pmpi_unrecorded(__builtin_return_address(0))) {
    return hierbar::mpi::barrier(*pmpi, handle_in<MPI_Comm>(comm));
  }
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Barrier, PMPI_Barrier, comm);
  return hierbar::mpi::recorded_barrier(*pmpi, handle_in<MPI_Comm>(comm), __builtin_return_address(0));
}

// Writes what is recorded so far. In a program without barriers that is nothing.
HIERBAR_ENTRY(int, MPI_Abort, RawHandle comm, int status) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Abort, PMPI_Abort, comm, status);
  ProcessState::get().recorder.abort(*pmpi);
  return pmpi->Abort(handle_in<MPI_Comm>(comm), status);
}

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
  Teams::get().end_all(ProcessState::get().states);
  ProcessState::get().world_ends(*pmpi);
  return pmpi->Finalize();
}

// Programs such as mpi4py look for these functions to know whether there are sessions. Open MPI 4
// has none, so a shim that was compiled against its header does not have them.
#if MPI_VERSION >= 4
HIERBAR_ENTRY(int, MPI_Session_init, RawHandle info, RawHandle handler, MPI_Session* session) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Session_init, PMPI_Session_init, info, handler, session);
  if (pmpi->Session_init == nullptr) return MPI_ERR_OTHER;
  const int status = pmpi->Session_init(handle_in<MPI_Info>(info), handle_in<MPI_Errhandler>(handler), session);
  if (status == MPI_SUCCESS) ProcessState::get().session_begins();
  return status;
}

HIERBAR_ENTRY(int, MPI_Session_finalize, MPI_Session* session) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Session_finalize, PMPI_Session_finalize, session);
  if (pmpi->Session_finalize == nullptr) return MPI_ERR_OTHER;
  ProcessState::get().session_ends(*pmpi);
  const int status = pmpi->Session_finalize(session);
  // The session goes on. Communicators are set up again.
  if (status != MPI_SUCCESS) ProcessState::get().session_begins();
  return status;
}
#endif

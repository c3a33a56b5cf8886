// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface: the functions that programs call in place of their MPI library's. Those that
// carry data are in collective_entry_points.cpp.

#include <mpi.h>

#include <string_view>
#include <utility>

#include "mpi/barrier/process_state.hpp"
#include "mpi/entry/entry_points.hpp"
#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/team/teams.hpp"

using hierbar::mpi::find_pmpi;
using hierbar::mpi::find_pmpi_unrecorded;
using hierbar::mpi::free_comm;
using hierbar::mpi::handle_in;
using hierbar::mpi::Pmpi;
using hierbar::mpi::ProcessState;
using hierbar::mpi::RawHandle;

namespace {

// Of a program that is not served, whose barriers are to be recorded, or where a tool sees them.
[[gnu::noinline]] int barrier_off_hot_path(RawHandle comm, const void* caller);

}  // namespace

HIERBAR_ENTRY(int, MPI_Barrier, RawHandle comm) {
  if (const Pmpi* const pmpi = find_pmpi_unrecorded(__builtin_return_address(0))) {
    return hierbar::mpi::barrier(*pmpi, handle_in<MPI_Comm>(comm));
  }
  return barrier_off_hot_path(comm, __builtin_return_address(0));
}

namespace {

int barrier_off_hot_path(RawHandle comm, const void* caller) {
  const Pmpi* const pmpi = find_pmpi(caller);
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Barrier, PMPI_Barrier, comm);
  if (pmpi->tool.is_behind) {
    return hierbar::mpi::through_tool(
        caller, [&] { return pmpi->next.Barrier(handle_in<MPI_Comm>(comm)); });
  }
  return hierbar::mpi::barrier_as_asked(*pmpi, handle_in<MPI_Comm>(comm), caller);
}

}  // namespace

// What a tool calls in the end, which stands before this library or behind it. Without such a tool
// it is the library's own barrier, and so it is for the library's own calls.
HIERBAR_ENTRY(int, PMPI_Barrier, RawHandle comm) {
  const void* const caller = __builtin_return_address(0);
  const Pmpi* const pmpi = find_pmpi(caller);
  if (pmpi == nullptr) HIERBAR_PASS_ON(PMPI_Barrier, PMPI_Barrier, comm);
  if (!pmpi->tool.exists() || pmpi->extent.has(caller))
    return pmpi->Barrier(handle_in<MPI_Comm>(comm));
  return hierbar::mpi::barrier_as_asked(*pmpi, handle_in<MPI_Comm>(comm),
                                        hierbar::mpi::take_program_place(caller));
}

// Writes what is recorded so far. In a program without barriers that is nothing.
HIERBAR_ENTRY(int, MPI_Abort, RawHandle comm, int status) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Abort, PMPI_Abort, comm, status);
  ProcessState::get().recorder.abort(*pmpi);
  return pmpi->next.Abort(handle_in<MPI_Comm>(comm), status);
}

HIERBAR_ENTRY(int, MPI_Comm_free, MPI_Comm* comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Comm_free, PMPI_Comm_free, comm);
  return free_comm(*pmpi, comm, pmpi->next.Comm_free);
}

HIERBAR_ENTRY(int, MPI_Comm_disconnect, MPI_Comm* comm) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Comm_disconnect, PMPI_Comm_disconnect, comm);
  return free_comm(*pmpi, comm, pmpi->next.Comm_disconnect);
}

HIERBAR_ENTRY(int, MPI_Finalize) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Finalize, PMPI_Finalize);
  ProcessState::get().finalize_comes(*pmpi);
  return pmpi->next.Finalize();
}

// Programs such as mpi4py look for these functions to know whether there are sessions. Open MPI 4
// has none, so a shim that was compiled against its header does not have them.
#ifdef HIERBAR_HEADER_HAS_SESSIONS
namespace {

int level_of(const Pmpi& pmpi, MPI_Session session) {
  MPI_Info info;
  if (pmpi.Session_get_info == nullptr || pmpi.Session_get_info(session, &info) != MPI_SUCCESS)
    return MPI_THREAD_MULTIPLE;
  char value[MPI_MAX_INFO_VAL] = "";
  int found = 0;
  pmpi.Info_get(info, "thread_level", sizeof(value) - 1, value, &found);
  pmpi.Info_free(&info);
  constexpr std::pair<std::string_view, int> kLevels[] = {
      {"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
      {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
      {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED}};
  for (const auto& [name, level] : kLevels) {
    if (found != 0 && name == value) return level;
  }
  return MPI_THREAD_MULTIPLE;
}

}  // namespace

HIERBAR_ENTRY(int, MPI_Session_init, RawHandle info, RawHandle handler, MPI_Session* session) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Session_init, PMPI_Session_init, info, handler, session);
  if (pmpi->next.Session_init == nullptr) return MPI_ERR_OTHER;
  const int status = pmpi->next.Session_init(handle_in<MPI_Info>(info),
                                             handle_in<MPI_Errhandler>(handler), session);
  if (status == MPI_SUCCESS) ProcessState::get().session_begins(level_of(*pmpi, *session));
  return status;
}

HIERBAR_ENTRY(int, MPI_Session_finalize, MPI_Session* session) {
  const Pmpi* const pmpi = find_pmpi(__builtin_return_address(0));
  if (pmpi == nullptr) HIERBAR_PASS_ON(MPI_Session_finalize, PMPI_Session_finalize, session);
  if (pmpi->next.Session_finalize == nullptr) return MPI_ERR_OTHER;
  ProcessState::get().session_ends(*pmpi);
  const int status = pmpi->next.Session_finalize(session);
  // The session goes on. Communicators are set up again.
  if (status != MPI_SUCCESS) ProcessState::get().session_begins(MPI_THREAD_SINGLE);
  return status;
}
#endif

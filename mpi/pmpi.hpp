// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <string>

namespace hierbar::mpi {

// The functions of the program's MPI library that the shim calls.
// clang-format off
#define HIERBAR_PMPI_FUNCTIONS(X) \
  X(Allgather) X(Allreduce) X(Barrier) X(Cancel) X(Comm_call_errhandler) X(Comm_create_group) \
  X(Comm_create_keyval) X(Comm_disconnect) X(Comm_free) X(Comm_free_keyval) X(Comm_get_attr) X(Comm_get_errhandler) \
  X(Comm_get_name) X(Comm_group) X(Comm_rank) X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size) \
  X(Comm_split) X(Comm_test_inter) X(Errhandler_free) X(Finalize) X(Finalized) X(Get_library_version) \
  X(Group_free) X(Group_incl) X(Initialized) X(Irecv) X(Query_thread) X(Reduce) \
  X(Request_get_status) X(Wait)
// clang-format on

// Found at run time, because the shim must not need an MPI library itself: Debian's MPICH and others call the same thing by
// different names, and a second library in one process would be the end of it.
struct Pmpi {
#define HIERBAR_MEMBER(name) decltype(&PMPI_##name) name;
  HIERBAR_PMPI_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
  // Null where the library does not have them.
  decltype(&PMPI_Session_init) Session_init;
  decltype(&PMPI_Session_finalize) Session_finalize;
  int (*Stream_progress)(int stream);  // MPICH 4.1 and later

  std::string file;  // of the library
};

// `caller` is an address in the program or library that called MPI: the MPI library may be known to nobody else, as when an
// interpreter loads it with an extension module. Thread-safe. Ends the process, with a message, when there is no MPI library, as
// nobody can have called MPI_Init then, or one whose handles are not MPICH's integers.
const Pmpi& find_pmpi(const void* caller);

}  // namespace hierbar::mpi

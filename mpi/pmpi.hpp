// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <string>

#if MPI_VERSION < 4
// Open MPI 4's header has no sessions; the library that is found may be a later one.
using MPI_Session = struct ompi_instance_t*;
extern "C" int PMPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session*);
extern "C" int PMPI_Session_finalize(MPI_Session*);
#endif

namespace hierbar::mpi {

// The functions of the program's MPI library that the shim calls.
// clang-format off
#define HIERBAR_PMPI_FUNCTIONS(X) \
  X(Abort) X(Allgather) X(Allreduce) X(Alltoall) X(Barrier) X(Cancel) X(Comm_call_errhandler) X(Comm_create_group) \
  X(Comm_create_keyval) X(Comm_delete_attr) X(Comm_disconnect) X(Comm_free) X(Comm_free_keyval) X(Comm_get_attr) \
  X(Comm_get_errhandler) X(Comm_get_name) X(Comm_group) X(Comm_rank) X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size) \
  X(Comm_split) X(Comm_test_inter) X(Errhandler_free) X(Finalize) X(Finalized) X(Gatherv) X(Get_library_version) \
  X(Group_free) X(Group_incl) X(Group_translate_ranks) X(Initialized) X(Irecv) X(Query_thread) X(Reduce) \
  X(Request_get_status) X(Wait)

// And the predefined handles: type, name here, name in MPI. These are constants of mpi.h in one family of libraries and addresses
// inside the library in another; so nobody else uses MPI's names for them.
#define HIERBAR_MPI_HANDLES(X) \
  X(MPI_Comm, comm_null, MPI_COMM_NULL) X(MPI_Comm, comm_self, MPI_COMM_SELF) X(MPI_Comm, comm_world, MPI_COMM_WORLD) \
  X(MPI_Datatype, byte, MPI_BYTE) X(MPI_Datatype, long_long, MPI_LONG_LONG) X(MPI_Datatype, uint64, MPI_UINT64_T) \
  X(MPI_Errhandler, errors_return, MPI_ERRORS_RETURN) X(MPI_Op, min, MPI_MIN) X(MPI_Op, sum, MPI_SUM)
// clang-format on

// Found at run time, because the shim must not need an MPI library itself: Debian's MPICH and others call the same thing by
// different names, and a second library in one process would be the end of it.
struct Pmpi {
#define HIERBAR_MEMBER(name) decltype(&PMPI_##name) name;
  HIERBAR_PMPI_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
#define HIERBAR_MEMBER(type, name, constant) type name;
  HIERBAR_MPI_HANDLES(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
  // Null where the library does not have them.
  decltype(&PMPI_Session_init) Session_init;
  decltype(&PMPI_Session_finalize) Session_finalize;
  MPI_Comm (*Comm_f2c)(MPI_Fint comm);  // a macro in MPICH
  void (*own_progress)();

  std::string file;  // of the library
};

// For what the library knows without memory or messages. Asked once more when it fails, so that a passing error in one rank does
// not part that rank from the others. `question` returns the library's status.
template <class Question>
bool ask(Question question) {
  return question() == MPI_SUCCESS || question() == MPI_SUCCESS;
}

// `caller` is an address in the program or library that called MPI. Thread-safe. Null, with a message the first time, when the
// program's MPI library is of another family than this build of the shim: then the shim can do nothing but pass calls on, and
// must not look at a handle. Ends the process, with a message, when there is no MPI library, as nobody can have called MPI_Init
// then.
const Pmpi* find_pmpi(const void* caller);

// The same for barriers, where it counts: null also when they are to be recorded.
const Pmpi* find_pmpi_unrecorded(const void* caller);

// After find_pmpi() has returned null: what `symbol` would mean if the shim had not been loaded. That is the next definition
// after it, also a tool's or another shim's; or, when the program does not see its MPI library itself, that library's
// `profiling_symbol`. Ends the process, with a message, when there is neither.
void* find_next(const char* symbol, const char* profiling_symbol);

}  // namespace hierbar::mpi

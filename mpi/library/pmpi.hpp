// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <type_traits>

#include "mpi/library/mpi_symbols.hpp"

// Whether this family's header has sessions. Open MPI 5's has them, although its MPI_VERSION is 3.
#ifdef MPI_SESSION_NULL
#define HIERBAR_HEADER_HAS_SESSIONS
#endif
// Whether it has functions with counts of 64 bits. Open MPI 5 does not.
#if MPI_VERSION >= 4
#define HIERBAR_HEADER_HAS_LARGE_COUNTS
#endif

namespace hierbar::mpi {

// The functions of the program's MPI library that the shim calls for itself.
// clang-format off
#define HIERBAR_PMPI_FUNCTIONS(X) \
  X(Cancel) X(Comm_call_errhandler) X(Comm_create_group) \
  X(Comm_create_keyval) X(Comm_delete_attr) X(Comm_free) X(Comm_free_keyval) X(Comm_get_attr) \
  X(Comm_get_errhandler) X(Comm_get_name) X(Comm_group) X(Comm_rank) X(Comm_set_attr) \
  X(Comm_set_errhandler) X(Comm_size) X(Comm_split) X(Comm_test_inter) X(Errhandler_free) \
  X(Error_class) X(Finalized) X(Gatherv) X(Get_library_version) X(Group_free) X(Group_incl) \
  X(Group_translate_ranks) X(Initialized) X(Info_free) X(Info_get) X(Irecv) X(Is_thread_main) \
  X(Isend) X(Pack) X(Query_thread) X(Request_free) X(Request_get_status) X(Testall) X(Type_commit) \
  X(Type_create_hindexed) X(Type_free) X(Type_size) X(Unpack) X(Wait)

// The functions that the shim stands in front of, and in the end passes on.
#define HIERBAR_NEXT_FUNCTIONS(X) \
  X(Abort) X(Barrier) X(Buffer_attach) X(Comm_disconnect) X(Comm_dup) X(Comm_free) X(Finalize)

// So does it of these, which carry data. It also calls them for itself. Name in MPI, and name here
// and in Fortran.
#define HIERBAR_DATA_FUNCTIONS(X) \
  X(Allgather, allgather) X(Allreduce, allreduce) X(Alltoall, alltoall) X(Bcast, bcast) \
  X(Gather, gather) X(Reduce, reduce) X(Reduce_scatter_block, reduce_scatter_block) \
  X(Scatter, scatter)

// The predefined handles: type, name here, name in MPI. In two families of libraries they are
// constants of mpi.h. With Open MPI they are addresses inside the library, so only this table uses
// MPI's names.
#define HIERBAR_MPI_HANDLES(X) \
  X(MPI_Comm, comm_null, MPI_COMM_NULL) X(MPI_Comm, comm_self, MPI_COMM_SELF) \
  X(MPI_Comm, comm_world, MPI_COMM_WORLD) X(MPI_Datatype, byte, MPI_BYTE) \
  X(MPI_Datatype, datatype_null, MPI_DATATYPE_NULL) \
  X(MPI_Datatype, long_long, MPI_LONG_LONG) X(MPI_Datatype, uint64, MPI_UINT64_T) \
  X(MPI_Errhandler, errors_return, MPI_ERRORS_RETURN) X(MPI_Op, min, MPI_MIN) \
  X(MPI_Op, sum, MPI_SUM) X(MPI_Request, request_null, MPI_REQUEST_NULL)
// clang-format on

// What the program's calls come to if this library were not loaded: the next definitions of MPI's
// functions behind it, which may be a tool's, or the library's PMPI functions where there are none.
// What the program has asked for goes there, so that tools see it. What the shim does for itself
// goes to the PMPI functions, so that they do not.
struct NextMpi {
#define HIERBAR_MEMBER(name) decltype(&PMPI_##name) name;
  HIERBAR_NEXT_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
#define HIERBAR_MEMBER(name, lower) decltype(&PMPI_##name) name;
  HIERBAR_DATA_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
  // Null where the library does not have them.
#ifdef HIERBAR_HEADER_HAS_LARGE_COUNTS
#define HIERBAR_MEMBER(name, lower) decltype(&PMPI_##name##_c) name##_c;
  HIERBAR_DATA_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
#endif
#ifdef HIERBAR_HEADER_HAS_SESSIONS
  decltype(&PMPI_Session_init) Session_init;
  decltype(&PMPI_Session_finalize) Session_finalize;
#endif
  // Communicators of threads, which MPICH has from version 4.2 on.
  int (*Threadcomm_init)(MPI_Comm comm, int num_threads, MPI_Comm* made);
  int (*Threadcomm_start)(MPI_Comm comm);
  int (*Threadcomm_finish)(MPI_Comm comm);
  int (*Threadcomm_free)(MPI_Comm* comm);
};

// Where in the process there is a tool with a function of its own, for instance MPI_Barrier, which
// ends by calling the profiling function, PMPI_Barrier. Then the shim serves that one, and the tool
// sees the calls.
struct CallTool {
  bool is_before = false;  // the program's calls come to it first
  bool is_behind = false;  // the shim calls it as NextMpi's function
  // It has the routine in Fortran. It may be no tool, but a part of the library that stands
  // between: Intel MPI's routines with INTEGER of 8 bytes convert, and call its others.
  bool is_in_fortran = false;
  bool exists() const noexcept { return is_before || is_behind || is_in_fortran; }
};

// The functions and handles of the program's MPI library. They are found at run time, because the
// shim must not be linked with an MPI library: MPI libraries of one family have different file
// names, and a process must not have two of them.
struct Pmpi {
#define HIERBAR_MEMBER(name) decltype(&PMPI_##name) name;
  HIERBAR_PMPI_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
#define HIERBAR_MEMBER(type, name, constant) type name;
  HIERBAR_MPI_HANDLES(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
  // The library's own, although the shim has them, too.
  decltype(&PMPI_Barrier) Barrier;
#define HIERBAR_MEMBER(name, lower) decltype(&PMPI_##name) name;
  HIERBAR_DATA_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
#ifdef HIERBAR_HEADER_HAS_LARGE_COUNTS
#define HIERBAR_MEMBER(name, lower) decltype(&PMPI_##name##_c) name##_c;
  HIERBAR_DATA_FUNCTIONS(HIERBAR_MEMBER)  // null where the library does not have them
#undef HIERBAR_MEMBER
#endif
  NextMpi next;
  // Null where the library does not have them.
  MPI_Comm (*Comm_f2c)(MPI_Fint comm);  // kCommFromFortran; these are macros in MPICH
  MPI_Datatype (*Type_f2c)(MPI_Fint type);
  MPI_Op (*Op_f2c)(MPI_Fint op);
#ifdef HIERBAR_HEADER_HAS_SESSIONS
  decltype(&PMPI_Session_get_info) Session_get_info;
#endif
  int (*Comm_test_threadcomm)(MPI_Comm comm, int* flag);
  void (*own_progress)();
  // Whether the library takes memory of one kind of device.
  std::array<int (*)(), 4> query_device_support;

  std::string file;  // the library's file
  Extent extent;     // and its memory
  CallTool tool;     // with an MPI_Barrier
  // With an MPI_Allreduce, and with an MPI_Allreduce_c, say.
#define HIERBAR_MEMBER(name, lower) CallTool lower##_tool, large_##lower##_tool;
  HIERBAR_DATA_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
  // The library has sessions, but the header of this build knows none: no entry point sees them.
  bool has_unseen_sessions;
  // The library runs on user-level threads, which it switches while one of them waits. Our waits
  // would keep the others of their thread from running (docs/design/mpi-calls.md#d0180).
  bool has_user_threads;
};

// For a question that the library answers without memory or messages. It is asked again if it
// fails, so that a passing error in one rank does not part that rank from the others
// (docs/design/mpi-setup.md#d0038). `question` returns the library's status.
template <class Question>
bool ask(Question question) {
  return question() == MPI_SUCCESS || question() == MPI_SUCCESS;
}

// Whether the library takes buffers in the memory of devices: it says so, or the user asks for it.
// To be called while MPI is in use.
bool takes_device_memory(const Pmpi& pmpi);

// Whether MPI_Pack writes values as they are, without anything else. Then what a rank packs is what
// another rank's memory holds that has the same signature without gaps.
bool packs_plainly(const Pmpi& pmpi, MPI_Comm comm);

// What MPI_Comm_get_name says, or that it has no name.
std::string name_of(const Pmpi& pmpi, MPI_Comm comm);

// For a library that the program has opened, with `barrier` as its PMPI_Barrier: whether this shim
// serves it. If not because of its family, the first call says so. The first library that is served
// is the one that find_pmpi() finds for callers that know none.
bool serves_opened(const void* barrier);

// Finds the program's MPI library. `caller` is an address in the program or library that called
// MPI. Thread-safe.
//
// Returns null where the shim must pass calls on and must not read a handle, with a message the
// first time: the library is of another family than this build of the shim, it lacks a function, or
// there is none, as in a program with a sequential substitute of MPI.
const Pmpi* find_pmpi(const void* caller);

// The same for MPI_Barrier, where one load must be enough. It returns null also when barriers are
// to be recorded (docs/design/mpi-calls.md#d0062), and where a tool wants to see them.
const Pmpi* find_pmpi_unrecorded(const void* caller);

// For use after find_pmpi() has returned null: returns the function that `symbol` would be if the
// shim were not loaded. This is the next definition of the symbol, which may be a tool's or another
// shim's. If the program does not see its MPI library, it is that library's `profiling_symbol`. If
// it has none, it is a function that returns MPI_ERR_OTHER. If there is no library, the process
// ends with a message: a barrier that fails is one that does not synchronise, and few programs
// look.
void* find_next(const char* symbol, const char* profiling_symbol);

// The same for a function that only shims have: the next definition, or that of the shim of
// the program's library, beside this one, which is loaded if need be. Ends the process with a
// message if there is neither.
void* find_in_other_shim(const char* symbol);

// While it exists, errors on a communicator are returned. Around what the shim does there for
// itself: all ranks must come to one verdict, and the program's error handler may end the call by a
// jump, or call MPI_Barrier. If the library refuses, errors reach the handler.
class QuietErrors {
 public:
  QuietErrors(const Pmpi& pmpi, MPI_Comm comm);
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  const Pmpi& pmpi_;
  MPI_Comm comm_;
  MPI_Errhandler handler_;
  bool has_handler_;
};

// MPI_Comm_split by `colour`, in the order of the ranks in `comm`. Errors are returned: the library
// may have no communicator left, which must not reach the program's error handler. Those of the new
// communicator are returned as well, for the caller to raise on one that the program knows. Returns
// the null communicator if the library refuses, or where the colour is MPI_UNDEFINED.
MPI_Comm split_quietly(const Pmpi& pmpi, MPI_Comm comm, int colour);

}  // namespace hierbar::mpi

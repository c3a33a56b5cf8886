// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Fortran interfaces. In MPICH the routines of mpif.h and `use mpi` call MPI_Barrier, but those
// of `use mpi_f08` call PMPI_Barrier, and so do all of Open MPI's. So all of them are entry points
// here. A handle is one INTEGER by reference, also as TYPE(MPI_Comm).

#include "mpi/entry/fortran_routine.hpp"
#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/entry/raw_handle.hpp"
#include "mpi/library/family.hpp"

using hierbar::mpi::FortranRoutine;
using hierbar::mpi::from_fortran;
using hierbar::mpi::Pmpi;

namespace {

// `comm` points to an INTEGER of any length, whose low bytes come first.
MPI_Comm handle_at(const Pmpi& pmpi, const void* comm) { return from_fortran(pmpi, *static_cast<const MPI_Fint*>(comm)); }

}  // namespace

#define HIERBAR_FORTRAN_BARRIER(name, profiling_name)                                                                  \
  HIERBAR_ENTRY(long, name, HIERBAR_ANY_PARAMETERS(comm, status, c)) {                                                 \
    static constinit FortranRoutine routine(#name);                                                                    \
    const Pmpi* const served = routine.served();                                                                       \
    if (served != nullptr) [[likely]] {                                                                                \
      FortranRoutine::store(status, hierbar::mpi::barrier(*served, handle_at(*served, comm)), false);                  \
      return 0;                                                                                                        \
    }                                                                                                                  \
    const void* const caller = __builtin_return_address(0);                                                            \
    const FortranRoutine::Calls calls = routine.find(caller, true);                                                    \
    if (calls.pmpi != nullptr) {                                                                                       \
      FortranRoutine::store(status, hierbar::mpi::barrier_as_asked(*calls.pmpi, handle_at(*calls.pmpi, comm), caller), \
                            calls.is_wide);                                                                            \
      return 0;                                                                                                        \
    }                                                                                                                  \
    return hierbar::mpi::through_tool(caller, [&] { return calls.next(HIERBAR_ANY_ARGUMENTS(comm, status, c)); });     \
  }
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_BARRIER, mpi_barrier, MPI_BARRIER)

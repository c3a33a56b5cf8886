// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Fortran interfaces. In MPICH the routines of mpif.h and `use mpi` call MPI_Barrier, but those
// of `use mpi_f08` call PMPI_Barrier, and so do all of Open MPI's. So all of them are entry points
// here. A handle is one INTEGER by reference, also as TYPE(MPI_Comm).

#include "mpi/entry/mpi_barrier.hpp"
#include "mpi/entry/raw_handle.hpp"
#include "mpi/library/family.hpp"
#include "mpi/library/pmpi.hpp"

// With mpi_f08 the status is optional.
#define HIERBAR_FORTRAN_BARRIER(name, profiling_name)                                                           \
  HIERBAR_ENTRY(void, name, const MPI_Fint* comm, MPI_Fint* status) {                                           \
    int result;                                                                                                 \
    const void* const caller = __builtin_return_address(0);                                                     \
    if (const hierbar::mpi::Pmpi* const pmpi = hierbar::mpi::find_pmpi_unrecorded(caller)) {                    \
      result = hierbar::mpi::barrier(*pmpi, hierbar::mpi::from_fortran(*pmpi, *comm));                          \
    } else if (const hierbar::mpi::Pmpi* const recorded = hierbar::mpi::find_pmpi(caller)) {                    \
      result = hierbar::mpi::recorded_barrier(*recorded, hierbar::mpi::from_fortran(*recorded, *comm), caller); \
    } else {                                                                                                    \
      HIERBAR_PASS_ON(name, profiling_name, comm, status);                                                      \
    }                                                                                                           \
    if (status != nullptr) *status = result;                                                                    \
  }
HIERBAR_FORTRAN_NAMES(HIERBAR_FORTRAN_BARRIER, mpi_barrier, MPI_BARRIER)

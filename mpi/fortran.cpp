// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Fortran interfaces. MPICH's own mpif.h and `use mpi` routines call MPI_Barrier, but those of `use mpi_f08` and of other
// libraries go past it to PMPI_Barrier; so all of them come here. A handle is one INTEGER by reference, also as TYPE(MPI_Comm).

#include <mpi.h>

#include "mpi/barrier_call.hpp"
#include "mpi/pmpi.hpp"

#define HIERBAR_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

void fortran_barrier(const MPI_Fint* comm, MPI_Fint* status, const void* caller) {
  const int result = hierbar::mpi::barrier(MPI_Comm_f2c(*comm), caller);
  if (status != nullptr) *status = result;  // optional with mpi_f08
}

}  // namespace

// The names that Fortran compilers give to MPI_BARRIER.
#define HIERBAR_FORTRAN_BARRIER(name) \
  HIERBAR_EXPORT void name(const MPI_Fint* comm, MPI_Fint* status) { fortran_barrier(comm, status, __builtin_return_address(0)); }
HIERBAR_FORTRAN_BARRIER(mpi_barrier)
HIERBAR_FORTRAN_BARRIER(mpi_barrier_)
HIERBAR_FORTRAN_BARRIER(mpi_barrier__)
HIERBAR_FORTRAN_BARRIER(MPI_BARRIER)
HIERBAR_FORTRAN_BARRIER(mpi_barrier_f08_)

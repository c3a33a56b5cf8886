/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Routines of MPI in Fortran whose INTEGER has 8 bytes, for wide_integer.f90. They stand before
   those of the MPI library, as Intel MPI's -lmpi_ilp64 does. With -DWHOLE they are the library's
   only ones. */

#include <mpi.h>

#define EXPORT __attribute__((visibility("default")))

void pmpi_init_(int* status);
void pmpi_finalize_(int* status);
void pmpi_initialized_(int* flag, int* status);

EXPORT void mpi_init_(long long* status) {
  int narrow;
  pmpi_init_(&narrow);
  *status = narrow;
}

EXPORT void mpi_initialized_(long long* flag, long long* status) {
  int narrow, narrow_flag;
  pmpi_initialized_(&narrow_flag, &narrow);
  *flag = narrow_flag;
  *status = narrow;
}

EXPORT void mpi_finalize_(long long* status) {
  int narrow;
  pmpi_finalize_(&narrow);
  *status = narrow;
}

#ifdef WHOLE
EXPORT void pmpi_barrier_(const long long* comm, long long* status) {
  *status = PMPI_Barrier(MPI_Comm_f2c((MPI_Fint)*comm));
}
EXPORT void mpi_barrier_(const long long* comm, long long* status) { pmpi_barrier_(comm, status); }
#else
void pmpi_barrier_(const int* comm, int* status);
EXPORT void mpi_barrier_(const long long* comm, long long* status) {
  const int narrow_comm = (int)*comm;
  int narrow;
  pmpi_barrier_(&narrow_comm, &narrow);
  *status = narrow;
}
#endif

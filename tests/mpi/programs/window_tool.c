/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A tool before the shim that sees the program's windows. */

#include <mpi.h>

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  return PMPI_Win_create(base, size, unit, info, comm, window);
}

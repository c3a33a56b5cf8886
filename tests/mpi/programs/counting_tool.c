/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A tool of the kind that counts MPI calls: it has MPI_Barrier, and passes it on to
   PMPI_Barrier. */

#include <mpi.h>
#include <stdio.h>

static int num_barriers = 0;

__attribute__((visibility("default"))) int MPI_Barrier(MPI_Comm comm) {
  ++num_barriers;
  return PMPI_Barrier(comm);
}

__attribute__((destructor)) static void report(void) {
  if (num_barriers > 0) fprintf(stderr, "tool: %d barriers\n", num_barriers);
}

/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* The half in C of a program whose other half is parts.F90: 10 times a duplicate, a barrier
   on it and its end, then 90 barriers. With an argument rank 0 aborts in the end. */

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int round = 0; round < 10; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }
  for (int round = 0; round < 90; ++round) MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD); /* that ends with the program */
  }
  MPI_Finalize();
  return 0;
}

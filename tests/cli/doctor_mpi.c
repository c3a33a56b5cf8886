/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Uses MPI and OpenMP. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
#pragma omp parallel
  {
#pragma omp barrier
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   The pages' ./hybrid_app: ranks of two threads, and the three steps of a barrier of all. */
#include <mpi.h>

enum { num_steps = 200 };

int main(int argc, char **argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
#pragma omp parallel num_threads(2)
  for (int step = 0; step < num_steps; ++step) {
#pragma omp barrier
#pragma omp master
    MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
  }
  MPI_Finalize();
  return 0;
}

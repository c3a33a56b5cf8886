/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   The README's ./mpi_app: an MPI program with 2000 barriers. */
#include <mpi.h>

enum { num_steps = 2000 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int step = 0; step < num_steps; ++step) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
